import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's own clients, for a harness that is written in another language: a command a line on
 * standard input, one line in answer, "ok" or "error" and what there is to say. It ends, without
 * closing its producers, where standard input ends.
 */
public final class Helper {
    final String bootstrap;
    final Topics topics;
    final Map<String, Load> loads = new HashMap<>();
    final Map<String, KafkaProducer<byte[], byte[]>> committing = new HashMap<>();
    KafkaProducer<byte[], byte[]> plain;
    Scenario scenario;

    Helper(String bootstrap) {
        this.bootstrap = bootstrap;
        topics = new Topics(Admin.create(Map.of("bootstrap.servers", bootstrap)));
    }

    public static void main(String[] args) throws Exception {
        Helper helper = new Helper(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine())
            System.out.println(helper.answer(line.split(" ")));
        Runtime.getRuntime().halt(0); // closing would abort transactions that are to stay open
    }

    String answer(String[] words) {
        try {
            return "ok " + run(words[0], Arrays.asList(words).subList(1, words.length));
        } catch (Exception e) {
            Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
            return "error " + cause.toString().replace('\n', ' ');
        }
    }

    String run(String command, List<String> words) throws Exception {
        switch (command) {
        case "scenario": return scenario(words);
        case "read": return read(words.get(0), words.get(1), words.subList(2, words.size()));
        case "send": return send(words);
        case "send-large": return sendLarge(words.get(0), integer(words.get(1)));
        case "open": return open(partition(words, 0), integer(words.get(2)));
        case "overlap": return overlap(partition(words, 0));
        case "abort-twice": return abortTwice(partition(words, 0));
        case "load": return load(words);
        case "loaded": return loaded(words.get(0));
        case "unload": return unload(words.get(0));
        case "commit": return commit(words.get(0), partition(words, 1), number(words.get(3)));
        case "commit-open":
            return commitOpen(words.get(0), partition(words, 1), number(words.get(3)));
        case "commit-end": return commitEnd(words.get(0));
        case "bytes-out": return Metric.bytesOut(integer(words.get(0)), words.get(1));
        default: return topics.run(command, words);
        }
    }

    static int integer(String word) {
        return Integer.parseInt(word);
    }

    static long number(String word) {
        return Long.parseLong(word);
    }

    static TopicPartition partition(List<String> words, int at) {
        return new TopicPartition(words.get(at), integer(words.get(at + 1)));
    }

    /** begin SEED: answers half way, and goes on. end: answers once it is done. commit. */
    String scenario(List<String> words) throws Exception {
        switch (words.get(0)) {
        case "begin":
            scenario = new Scenario(bootstrap, number(words.get(1)));
            scenario.firstHalf();
            scenario.start();
            return "";
        case "end":
            scenario.end();
            return "";
        default:
            scenario.commitOpen();
            return "";
        }
    }

    String read(String level, String to, List<String> topics) throws Exception {
        Reader.read(bootstrap, level, Path.of(to), topics);
        return "";
    }

    /** TOPIC PARTITION FIRST COUNT BYTES: the numbers from FIRST on, filled up to so many bytes.
     *  Answers with the offset of the last. */
    String send(List<String> words) throws Exception {
        long first = number(words.get(2)), count = number(words.get(3)), offset = -1;
        String fill = ".".repeat(integer(words.get(4)));
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        // one that is idempotent was seen to hold back a batch of a topic just made, for ever
        plain = plain != null ? plain : open(Map.of("linger.ms", 5, "enable.idempotence", false));
        for (long i = first; i < first + count; i++)
            sent.add(plain.send(new ProducerRecord<>(
                words.get(0), integer(words.get(1)), null,
                bytes((i + fill).substring(0, fill.length())))));
        for (Future<RecordMetadata> each : sent)
            offset = each.get().offset();
        return Long.toString(offset);
    }

    /** Some records in a transaction that stays open. */
    String open(TopicPartition partition, int count) {
        KafkaProducer<byte[], byte[]> producer = open(Map.of(
            "transactional.id", "open-" + partition, "transaction.timeout.ms", 900_000));
        producer.initTransactions();
        producer.beginTransaction();
        for (int i = 0; i < count; i++)
            producer.send(new ProducerRecord<>(partition.topic(), partition.partition(), null,
                                               bytes("open:" + i)));
        producer.flush();
        return "";
    }

    /** A transaction that commits while another, which began in it, stays open. */
    String overlap(TopicPartition partition) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                 open(Map.of("transactional.id", "overlap-" + partition))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(partition.topic(), partition.partition(), null,
                                               bytes("first"))).get();
            open(partition, 1);
            producer.send(new ProducerRecord<>(partition.topic(), partition.partition(), null,
                                               bytes("second"))).get();
            producer.commitTransaction();
        }
        return "";
    }

    /** Two aborted transactions of one producer, of 1 and of 4 records, each a batch of its own. */
    String abortTwice(TopicPartition partition) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                 open(Map.of("transactional.id", "twice-" + partition))) {
            producer.initTransactions();
            for (int count : new int[] {1, 4}) {
                producer.beginTransaction();
                for (int i = 0; i < count; i++)
                    producer.send(new ProducerRecord<>(partition.topic(), partition.partition(),
                                                       null, bytes("aborted:" + i))).get();
                producer.abortTransaction();
            }
        }
        return "";
    }

    String sendLarge(String topic, int size) throws Exception {
        byte[] value = new byte[size];
        Arrays.fill(value, (byte) 'x');
        try (KafkaProducer<byte[], byte[]> producer =
                 open(Map.of("max.request.size", size + 1000, "buffer.memory", 2L * size))) {
            return "" + producer.send(new ProducerRecord<>(topic, 0, null, value)).get().offset();
        }
    }

    KafkaProducer<byte[], byte[]> open(Map<String, Object> configs) {
        Map<String, Object> all = new HashMap<>(configs);
        all.put("bootstrap.servers", bootstrap);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** NAME TOPIC PARTITIONS COUNT MOST PACE SEED LOG */
    String load(List<String> words) {
        Load load = new Load(bootstrap, words.get(0), words.get(1), integer(words.get(2)),
                             number(words.get(3)), integer(words.get(4)), integer(words.get(5)),
                             number(words.get(6)), Path.of(words.get(7)));
        loads.put(words.get(0), load);
        load.start();
        return "";
    }

    /** How many records are acknowledged, and whether it goes on. */
    String loaded(String name) throws Exception {
        Load load = loads.get(name);
        if (load.failure != null)
            throw load.failure;
        return load.acknowledged + " " + load.isAlive();
    }

    String unload(String name) throws Exception {
        Load load = loads.get(name);
        load.ending = true;
        load.join();
        return loaded(name);
    }

    KafkaConsumer<byte[], byte[]> consumer(String group) {
        return new KafkaConsumer<>(Map.of("bootstrap.servers", bootstrap, "group.id", group),
                                   new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** GROUP TOPIC PARTITION OFFSET, as a consumer commits it. */
    String commit(String group, TopicPartition partition, long offset) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(group)) {
            consumer.assign(List.of(partition));
            consumer.commitSync(Map.of(partition,
                                       new OffsetAndMetadata(offset, Optional.empty(), "")));
        }
        return "";
    }

    /** GROUP TOPIC PARTITION OFFSET, in a transaction that stays open until commit-end GROUP. */
    String commitOpen(String group, TopicPartition partition, long offset) {
        KafkaProducer<byte[], byte[]> producer = open(Map.of("transactional.id", "of-" + group));
        committing.put(group, producer);
        producer.initTransactions();
        producer.beginTransaction();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(group)) {
            producer.sendOffsetsToTransaction(
                Map.of(partition, new OffsetAndMetadata(offset, Optional.empty(), "")),
                consumer.groupMetadata());
        }
        return "";
    }

    String commitEnd(String group) {
        try (KafkaProducer<byte[], byte[]> producer = committing.remove(group)) {
            producer.commitTransaction();
        }
        return "";
    }
}
