import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Writes what Kafka's consumer reads, for each isolation level into OUT/LEVEL: BOOTSTRAP OUT. A
 * JSON line for each record, its bytes in base64; then one for each partition with its offsets.
 */
public class Consume {
    public static void main(String[] args) throws Exception {
        for (String level : new String[] {"read_committed", "read_uncommitted"}) {
            Map<String, Object> configs = Map.of(
                "bootstrap.servers", args[0], "isolation.level", level,
                "auto.offset.reset", "none", "enable.auto.commit", "false");
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                     configs, new ByteArrayDeserializer(), new ByteArrayDeserializer());
                 BufferedWriter out = Files.newBufferedWriter(Path.of(args[1], level))) {
                consume(consumer, out);
            }
        }
    }

    static void consume(KafkaConsumer<byte[], byte[]> consumer, BufferedWriter out)
        throws IOException {
        List<TopicPartition> partitions = new ArrayList<>();
        for (List<PartitionInfo> topic : consumer.listTopics().values())
            for (PartitionInfo info : topic)
                if (!info.topic().startsWith("__"))
                    partitions.add(new TopicPartition(info.topic(), info.partition()));
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p)))
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200)))
                out.write(line(record));
        for (TopicPartition p : partitions)
            out.write(String.format(
                "{\"topic\":\"%s\",\"partition\":%d,\"logStart\":%d,\"end\":%d,\"position\":%d}%n",
                p.topic(), p.partition(), starts.get(p), ends.get(p), consumer.position(p)));
    }

    static String line(ConsumerRecord<byte[], byte[]> record) {
        StringBuilder headers = new StringBuilder();
        for (Header header : record.headers()) {
            headers.append(headers.isEmpty() ? "" : ",");
            headers.append(String.format("{\"key\":%s,\"value\":%s}",
                                         base64(header.key().getBytes()), base64(header.value())));
        }
        return String.format(
            "{\"topic\":\"%s\",\"partition\":%d,\"offset\":%d,\"timestamp\":%d,"
                + "\"timestampType\":\"%s\",\"leaderEpoch\":%d,\"key\":%s,\"value\":%s,"
                + "\"headers\":[%s]}%n",
            record.topic(), record.partition(), record.offset(), record.timestamp(),
            record.timestampType(), record.leaderEpoch().orElse(-1), base64(record.key()),
            base64(record.value()), headers);
    }

    static String base64(byte[] bytes) {
        return bytes == null ? "null" : '"' + Base64.getEncoder().encodeToString(bytes) + '"';
    }
}
