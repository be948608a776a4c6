import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * What Kafka's consumer reads: a JSON line for each record, its bytes in base64; then one for each
 * partition with its offsets.
 */
final class Reader {
    /** Of these topics; of all but internal ones if none is named. */
    static void read(String bootstrap, String level, Path to, Collection<String> topics)
        throws IOException {
        Map<String, Object> configs = Map.of("bootstrap.servers", bootstrap, "isolation.level",
                                             level, "auto.offset.reset", "none",
                                             "enable.auto.commit", "false");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                 configs, new ByteArrayDeserializer(), new ByteArrayDeserializer());
             BufferedWriter out = Files.newBufferedWriter(to)) {
            consume(consumer, topics, out);
        }
    }

    static void consume(KafkaConsumer<byte[], byte[]> consumer, Collection<String> topics,
                        BufferedWriter out) throws IOException {
        List<TopicPartition> partitions = new ArrayList<>();
        consumer.listTopics().forEach((topic, infos) -> {
            if (topics.isEmpty() ? !topic.startsWith("__") : topics.contains(topic))
                for (PartitionInfo info : infos)
                    partitions.add(new TopicPartition(topic, info.partition()));
        });
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
        return "{\"topic\":\"" + record.topic() + "\",\"partition\":" + record.partition()
            + ",\"offset\":" + record.offset() + ",\"timestamp\":" + record.timestamp()
            + ",\"timestampType\":\"" + record.timestampType() + "\",\"leaderEpoch\":"
            + record.leaderEpoch().orElse(-1) + ",\"key\":" + base64(record.key())
            + ",\"value\":" + base64(record.value()) + ",\"headers\":[" + headers + "]}\n";
    }

    static String base64(byte[] bytes) {
        return bytes == null ? "null" : '"' + Base64.getEncoder().encodeToString(bytes) + '"';
    }
}
