import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Copies topics from one cluster to another: what is committed, in its order, with its timestamps;
 * in transactions, of which some are aborted and tried again, so that offsets differ.
 */
final class Copier {
    final KafkaConsumer<byte[], byte[]> consumer;
    final KafkaProducer<byte[], byte[]> producer;
    final Random random;
    final List<TopicPartition> partitions = new ArrayList<>();

    Copier(String from, String to, long seed) {
        consumer = new KafkaConsumer<>(
            Map.of("bootstrap.servers", from, "isolation.level", "read_committed",
                   "enable.auto.commit", "false"),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Map<String, Object> configs = new HashMap<>();
        configs.put("bootstrap.servers", to);
        configs.put("transactional.id", "copier");
        producer = new KafkaProducer<>(configs, new ByteArraySerializer(),
                                       new ByteArraySerializer());
        random = new Random(seed);
    }

    /** FROM TO SEED TOPIC... */
    public static void main(String[] args) {
        Copier copier = new Copier(args[0], args[1], Long.parseLong(args[2]));
        copier.producer.initTransactions();
        copier.copy(List.of(args).subList(3, args.length));
        copier.producer.close();
        copier.consumer.close();
    }

    void copy(List<String> topics) {
        for (String topic : topics)
            for (PartitionInfo info : consumer.partitionsFor(topic))
                partitions.add(new TopicPartition(topic, info.partition()));
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
            List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
            consumer.poll(Duration.ofMillis(200)).forEach(records::add);
            for (int at = 0, next; at < records.size(); at = next) {
                next = Math.min(records.size(), at + 1 + random.nextInt(100));
                while (random.nextInt(4) == 0)
                    send(records.subList(at, next), false);
                send(records.subList(at, next), true);
            }
        }
    }

    void send(List<ConsumerRecord<byte[], byte[]>> records, boolean commit) {
        producer.beginTransaction();
        for (ConsumerRecord<byte[], byte[]> r : records)
            producer.send(new ProducerRecord<>(r.topic(), r.partition(), r.timestamp(), r.key(),
                                               r.value(), r.headers()));
        producer.flush();
        if (commit)
            producer.commitTransaction();
        else
            producer.abortTransaction();
    }
}
