import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A member of a group that reads on from where the group stands, to the end. */
final class Onward {
    /** BOOTSTRAP GROUP FILE TOPIC... */
    public static void main(String[] args) throws IOException {
        Map<String, Object> configs = Map.of(
            "bootstrap.servers", args[0], "group.id", args[1], "isolation.level", "read_committed",
            "auto.offset.reset", "none", "enable.auto.commit", "false");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                 configs, new ByteArrayDeserializer(), new ByteArrayDeserializer());
             BufferedWriter out = Files.newBufferedWriter(Path.of(args[2]))) {
            consumer.subscribe(List.of(args).subList(3, args.length));
            while (!isAtEnd(consumer))
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200)))
                    out.write(Reader.line(record));
        }
    }

    static boolean isAtEnd(KafkaConsumer<byte[], byte[]> consumer) {
        Set<TopicPartition> partitions = consumer.assignment();
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        return !partitions.isEmpty()
            && partitions.stream().allMatch(p -> consumer.position(p) >= ends.get(p));
    }
}
