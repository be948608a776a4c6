import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.AppInfoParser;

/** The same with Kafka's consumer and its defaults: HOST:PORT TOPIC PARTITIONS; without arguments
 *  it says which it is. */
public final class JavaReader {
    static final class Checksum {
        long sum, count;

        void mix(long value) {
            sum = (sum ^ value) * 0x9e3779b97f4a7c15L;
        }

        void add(ConsumerRecord<byte[], byte[]> record) {
            byte[] key = record.key(), value = record.value();
            mix(record.offset());
            mix(record.timestamp());
            mix(key == null ? 0 : key.length);
            mix(value == null ? 0 : value.length);
            mix(value == null || value.length == 0 ? 0 : value[0] & 0xff);
            count++;
        }
    }

    public static void main(String[] args) {
        if (args.length != 3) {
            System.out.println("Kafka's Java consumer " + AppInfoParser.getVersion());
            return;
        }
        List<TopicPartition> partitions = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[2]); i++)
            partitions.add(new TopicPartition(args[1], i));
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        properties.put("isolation.level", "read_committed");
        if (System.getenv("BENCH_CA") != null) {
            properties.put("security.protocol", "SSL");
            properties.put("ssl.truststore.type", "PEM");
            properties.put("ssl.truststore.location", System.getenv("BENCH_CA"));
        }
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                 properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            read(consumer, partitions);
        }
    }

    static void read(KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions) {
        Checksum[] sums = new Checksum[partitions.size()];
        for (int i = 0; i < sums.length; i++)
            sums[i] = new Checksum();
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        while (!ended(consumer, ends)) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofSeconds(1));
            for (ConsumerRecord<byte[], byte[]> record : records)
                sums[record.partition()].add(record);
        }
        long sum = 0, count = 0;
        for (Checksum s : sums) {
            sum ^= s.sum;
            count += s.count;
        }
        System.out.printf("%d records, checksum %016x%n", count, sum);
    }

    static boolean ended(KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) {
        for (Map.Entry<TopicPartition, Long> end : ends.entrySet())
            if (consumer.position(end.getKey()) < end.getValue())
                return false;
        return true;
    }
}
