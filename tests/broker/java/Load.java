import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A producer in its own thread, and its log of what was acknowledged: a line PARTITION OFFSET VALUE
 * for each record, of those that were aborted none. A value is NAME:NUMBER, numbers are given out
 * in order, so that what is lost, doubled or out of order shows without any oracle.
 */
final class Load extends Thread {
    static final String[] CODECS = {"none", "gzip", "snappy", "lz4"}; // that all brokers know
    final String topic;
    final int partitions;
    final long count;
    final int most;
    final int pace;
    final Random random;
    final Path log;
    final Map<String, Object> configs = new HashMap<>();
    volatile boolean ending;
    volatile long acknowledged;
    volatile Exception failure;
    private long next;

    /** MOST records in a transaction, 0 for none; a pause of PACE ms behind each handful. */
    Load(String bootstrap, String name, String topic, int partitions, long count, int most,
         int pace, long seed, Path log) {
        super(name);
        this.topic = topic;
        this.partitions = partitions;
        this.count = count;
        this.most = most;
        this.pace = pace;
        this.log = log;
        random = new Random(seed);
        configs.put("bootstrap.servers", bootstrap);
        configs.put("linger.ms", 1);
        configs.put("compression.type", CODECS[random.nextInt(CODECS.length)]);
        if (most > 0)
            configs.put("transactional.id", name);
    }

    @Override
    public void run() {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                 configs, new ByteArraySerializer(), new ByteArraySerializer());
             BufferedWriter out = Files.newBufferedWriter(log)) {
            if (most > 0)
                producer.initTransactions();
            while (!ending && next < count) {
                if (most > 0)
                    transaction(producer, out);
                else
                    log(out, send(producer, 10));
                Thread.sleep(pace);
            }
        } catch (Exception e) {
            failure = e;
        }
    }

    void transaction(KafkaProducer<byte[], byte[]> producer, BufferedWriter out)
        throws Exception {
        producer.beginTransaction();
        List<String> lines = send(producer, 1 + random.nextInt(most));
        if (random.nextInt(8) == 0) {
            producer.abortTransaction();
            return;
        }
        producer.commitTransaction();
        log(out, lines);
    }

    /** Sends some records and waits for them: what their lines in the log will be. */
    List<String> send(KafkaProducer<byte[], byte[]> producer, int some) throws Exception {
        List<String> values = new ArrayList<>();
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        int partition = random.nextInt(partitions);
        for (int i = 0; i < some && next < count; i++) {
            values.add(getName() + ":" + next++);
            if (random.nextInt(4) == 0)
                partition = random.nextInt(partitions);
            sent.add(producer.send(new ProducerRecord<>(
                topic, partition, null, values.get(i).getBytes(StandardCharsets.UTF_8))));
        }
        producer.flush();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < sent.size(); i++) {
            RecordMetadata at = sent.get(i).get();
            lines.add(at.partition() + " " + at.offset() + " " + values.get(i) + "\n");
        }
        return lines;
    }

    void log(BufferedWriter out, List<String> lines) throws IOException {
        for (String line : lines)
            out.write(line);
        acknowledged += lines.size();
    }
}
