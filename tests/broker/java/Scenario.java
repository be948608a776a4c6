import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes what a seed decides. Ends with a transaction open in each topic that may have one, which
 * stays so until it is committed or this process ends without closing its producers.
 */
final class Scenario extends Thread {
    static final String[] CODECS = {"none", "gzip", "snappy", "lz4", "zstd"};
    static final String[] TOPICS = {"mixed", "appended", "trimmed", "compacted"};
    static final Map<String, Integer> PARTITIONS = Map.of("mixed", 3, "appended", 2);
    static final int ROUNDS = 400;

    final Random random;
    final Map<String, Object> common;
    final List<KafkaProducer<byte[], byte[]>> producers = new ArrayList<>();
    volatile Exception failure;
    long clock = 1_700_000_000_000L;

    Scenario(String bootstrap, long seed) {
        random = new Random(seed);
        common = Map.of("bootstrap.servers", bootstrap);
    }

    void firstHalf() throws Exception {
        createTopics();
        openProducers();
        for (int i = 0; i < ROUNDS / 2; i++)
            transaction(i);
    }

    /** The second half, in a thread of its own: see end(). */
    @Override
    public void run() {
        try {
            for (int i = ROUNDS / 2; i < ROUNDS; i++)
                transaction(i);
            trim();
            compact();
            leaveOpen();
        } catch (Exception e) {
            failure = e;
        }
    }

    void end() throws Exception {
        join();
        if (failure != null)
            throw failure;
    }

    void commitOpen() {
        producers.get(0).commitTransaction();
    }

    void createTopics() throws Exception {
        Map<String, String> small = Map.of("internal.segment.bytes", "40000",
                                           "min.cleanable.dirty.ratio", "0.001");
        List<NewTopic> topics = new ArrayList<>();
        for (String topic : TOPICS) {
            Map<String, String> configs = new HashMap<>(small);
            if (topic.equals("appended"))
                configs.put("message.timestamp.type", "LogAppendTime");
            topics.add(new NewTopic(topic, PARTITIONS.getOrDefault(topic, 1), (short) 1)
                           .configs(configs));
        }
        topics.add(new NewTopic("never", 1, (short) 1));
        try (Admin admin = Admin.create(common)) {
            admin.createTopics(topics).all().get();
        }
    }

    void openProducers() {
        for (int i = 0; i < 2 * CODECS.length; i++) {
            Map<String, Object> configs = new HashMap<>(common);
            configs.put("compression.type", CODECS[i % CODECS.length]);
            configs.put("linger.ms", 1);
            configs.put("batch.size", 1 << 10 + random.nextInt(6));
            configs.put("transaction.timeout.ms", 900_000);
            if (i < CODECS.length)
                configs.put("transactional.id", "transactional-" + i);
            producers.add(new KafkaProducer<>(configs, new ByteArraySerializer(),
                                              new ByteArraySerializer()));
            if (i < CODECS.length)
                producers.get(i).initTransactions();
        }
    }

    /** One transaction, with records of others and of plain producers between its own. */
    void transaction(int round) throws Exception {
        KafkaProducer<byte[], byte[]> first = producers.get(round % CODECS.length);
        KafkaProducer<byte[], byte[]> second = producers.get((round + 1) % CODECS.length);
        clock += 60_000;
        first.beginTransaction();
        second.beginTransaction();
        for (int i = random.nextInt(8); i >= 0; i--) {
            send(first, TOPICS[random.nextInt(TOPICS.length)]);
            send(second, TOPICS[random.nextInt(TOPICS.length)]);
            KafkaProducer<byte[], byte[]> plain =
                producers.get(CODECS.length + random.nextInt(CODECS.length));
            send(plain, TOPICS[random.nextInt(TOPICS.length)]);
            if (random.nextInt(4) == 0)
                first.flush();
        }
        end(second);
        end(first);
        if (round % 20 == 0)
            for (KafkaProducer<byte[], byte[]> producer : producers)
                producer.flush();
    }

    void end(KafkaProducer<byte[], byte[]> producer) {
        producer.flush();
        if (random.nextInt(3) == 0)
            producer.abortTransaction();
        else
            producer.commitTransaction();
    }

    void send(KafkaProducer<byte[], byte[]> producer, String topic) {
        int partition = random.nextInt(PARTITIONS.getOrDefault(topic, 1));
        byte[] key = topic.equals("compacted") ? text("key-" + random.nextInt(30)) : bytes(12);
        byte[] value = bytes(random.nextInt(200) == 0 ? 20_000 : 300);
        ProducerRecord<byte[], byte[]> record =
            new ProducerRecord<>(topic, partition, clock + random.nextInt(60_000), key, value);
        for (int i = random.nextInt(4); i > 1; i--)
            record.headers().add(random.nextInt(3) == 0 ? "" : "h\u00e9-" + random.nextInt(3),
                                 bytes(20));
        producer.send(record);
    }

    static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Null, empty, text, or anything. */
    byte[] bytes(int most) {
        int kind = random.nextInt(10);
        if (kind == 0)
            return null;
        byte[] bytes = new byte[kind == 1 ? 0 : random.nextInt(most)];
        random.nextBytes(bytes);
        if (kind < 7)
            for (int i = 0; i < bytes.length; i++)
                bytes[i] = (byte) ('a' + (bytes[i] & 15));
        return bytes;
    }

    /** The log start offset somewhere in "trimmed", in the middle of a batch if it falls so. */
    void trim() throws Exception {
        for (KafkaProducer<byte[], byte[]> producer : producers)
            producer.flush();
        TopicPartition partition = new TopicPartition("trimmed", 0);
        try (Admin admin = Admin.create(common)) {
            RecordsToDelete before = RecordsToDelete.beforeOffset(100 + random.nextInt(200));
            admin.deleteRecords(Map.of(partition, before)).all().get();
        }
    }

    /** Only now, for a copy made while the cleaner removes segments may lack some. */
    void compact() throws Exception {
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "compacted");
        AlterConfigOp set = new AlterConfigOp(new ConfigEntry("cleanup.policy", "compact"),
                                              AlterConfigOp.OpType.SET);
        try (Admin admin = Admin.create(common)) {
            admin.incrementalAlterConfigs(Map.of(topic, List.of(set))).all().get();
        }
    }

    void leaveOpen() throws Exception {
        KafkaProducer<byte[], byte[]> open = producers.get(0);
        open.beginTransaction();
        for (int i = 0; i < 20; i++) {
            send(open, "mixed");
            send(open, "trimmed");
            if (i == 10)
                open.flush();
        }
        open.flush();
        KafkaProducer<byte[], byte[]> after = producers.get(1);
        after.beginTransaction();
        for (int i = 0; i < 20; i++)
            send(after, TOPICS[random.nextInt(3)]);
        after.commitTransaction();
        for (int i = 0; i < 20; i++)
            send(producers.get(CODECS.length), "mixed");
        producers.get(CODECS.length).flush();
    }
}
