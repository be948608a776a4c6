import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;

/** What Kafka's assignors assign, and the bytes that its members send: see README. */
public class Golden {
    static final class Member {
        String id;
        String instance;
        List<String> topics = new ArrayList<>();
        List<TopicPartition> owned = new ArrayList<>();
        int generation = -1;
    }

    static final Random RANDOM = new Random(20260);

    public static void main(String[] args) {
        if (args[0].equals("bytes"))
            bytes();
        else
            assignments();
    }

    // ---- Text ------------------------------------------------------------------------------

    static String list(List<String> words) {
        return words.isEmpty() ? "-" : String.join(",", words);
    }

    static String partitions(List<TopicPartition> partitions) {
        return list(partitions.stream().map(p -> p.topic() + ":" + p.partition())
                .collect(Collectors.toList()));
    }

    static String hex(ByteBuffer buffer) {
        if (buffer == null)
            return "null";
        StringBuilder text = new StringBuilder("x");
        for (ByteBuffer b = buffer.duplicate(); b.hasRemaining();)
            text.append(String.format("%02x", b.get()));
        return text.toString();
    }

    static List<TopicPartition> sorted(List<TopicPartition> partitions) {
        List<TopicPartition> list = new ArrayList<>(partitions);
        list.sort((a, b) -> a.topic().equals(b.topic()) ? a.partition() - b.partition()
                : a.topic().compareTo(b.topic()));
        return list;
    }

    @SuppressWarnings("removal")
    static ConsumerGroupMetadata group(int generation) {
        return new ConsumerGroupMetadata("g", generation, "m", Optional.empty());
    }

    // ---- Bytes -----------------------------------------------------------------------------

    static String text(Subscription s) {
        return list(s.topics()) + " " + hex(s.userData()) + " " + partitions(s.ownedPartitions())
                + " " + s.generationId().orElse(-1) + " " + s.rackId().orElse("-");
    }

    static String text(Assignment a) {
        return partitions(a.partitions()) + " " + hex(a.userData());
    }

    static List<TopicPartition> somePartitions(int most) {
        String[] names = {"orders", "a", "payments.eu-1", "z_9"};
        Set<TopicPartition> set = new HashSet<>();
        for (int n = RANDOM.nextInt(most + 1); n > 0; n--)
            set.add(new TopicPartition(names[RANDOM.nextInt(4)], RANDOM.nextInt(300)));
        List<TopicPartition> list = sorted(new ArrayList<>(set));
        return list;
    }

    static ByteBuffer someData() {
        switch (RANDOM.nextInt(3)) {
            case 0: return null;
            case 1: return ByteBuffer.allocate(0);
            default: return ByteBuffer.wrap(new byte[] {0, 1, (byte) RANDOM.nextInt(), 3});
        }
    }

    static void bytes() {
        String[] names = {"orders", "a", "payments.eu-1", "z_9"};
        for (int i = 0; i < 40; i++) {
            short version = (short) (i % 4);
            List<String> topics = new ArrayList<>(Arrays.asList(names).subList(0, RANDOM.nextInt(5)));
            Collections.shuffle(topics, RANDOM);
            Subscription s = new Subscription(topics, someData(), somePartitions(8),
                    RANDOM.nextInt(3) == 0 ? -1 : RANDOM.nextInt(1 << 30),
                    RANDOM.nextBoolean() ? Optional.of("rack-" + i) : Optional.empty());
            ByteBuffer out = ConsumerProtocol.serializeSubscription(s, version);
            System.out.println("subscription " + version + " " + text(s) + " " + hex(out) + " "
                    + text(ConsumerProtocol.deserializeSubscription(out)));
            Assignment a = new Assignment(somePartitions(12), someData());
            out = ConsumerProtocol.serializeAssignment(a, version);
            System.out.println("assignment " + version + " " + text(a) + " " + hex(out) + " "
                    + text(ConsumerProtocol.deserializeAssignment(out)));
        }
        for (int i = 0; i < 8; i++) {
            List<TopicPartition> owned = somePartitions(6).stream().filter(p -> p.topic().length() == 1
                    || p.topic().equals("z_9")).collect(Collectors.toList());
            ConsumerGroupMetadata group = group(RANDOM.nextInt(1 << 30));
            StickyAssignor sticky = new StickyAssignor();
            sticky.onAssignment(new Assignment(owned), group);
            System.out.println("sticky " + partitions(owned) + " " + group.generationId() + " "
                    + hex(sticky.subscriptionUserData(Set.of("a"))));
            CooperativeStickyAssignor cooperative = new CooperativeStickyAssignor();
            cooperative.onAssignment(new Assignment(owned), group);
            System.out.println("cooperative-sticky " + partitions(owned) + " " + group.generationId() + " "
                    + hex(cooperative.subscriptionUserData(Set.of("a"))));
        }
        System.out.println("sticky - -1 " + hex(new StickyAssignor().subscriptionUserData(Set.of("a"))));
        System.out.println("cooperative-sticky - -1 "
                + hex(new CooperativeStickyAssignor().subscriptionUserData(Set.of("a"))));
    }

    // ---- Assignments -----------------------------------------------------------------------

    static AbstractPartitionAssignor assignor(String name) {
        switch (name) {
            case "range": return new RangeAssignor();
            case "roundrobin": return new RoundRobinAssignor();
            case "sticky": return new StickyAssignor();
            default: return new CooperativeStickyAssignor();
        }
    }

    static Subscription subscription(String assignor, Member m) {
        ByteBuffer data = null;
        List<TopicPartition> owned = new ArrayList<>();
        if (assignor.equals("sticky") && m.generation >= 0) {
            StickyAssignor sticky = new StickyAssignor();
            sticky.onAssignment(new Assignment(m.owned), group(m.generation));
            data = sticky.subscriptionUserData(Set.of());
        } else if (assignor.equals("cooperative-sticky")) {
            owned = m.owned;
        }
        Subscription s = new Subscription(sortedNames(m.topics), data, owned, m.generation, Optional.empty());
        s.setGroupInstanceId(Optional.ofNullable(m.instance));
        return s;
    }

    static List<String> sortedNames(List<String> names) {
        List<String> list = new ArrayList<>(names);
        Collections.sort(list);
        return list;
    }

    static Map<String, List<TopicPartition>> round(String name, Map<String, Integer> topics, List<Member> members) {
        Map<String, Integer> subscribed = new LinkedHashMap<>();
        Map<String, Subscription> subscriptions = new LinkedHashMap<>();
        System.out.println("assign " + name);
        for (Map.Entry<String, Integer> topic : topics.entrySet()) {
            System.out.println("topic " + topic.getKey() + " " + topic.getValue());
            if (members.stream().anyMatch(m -> m.topics.contains(topic.getKey())))
                subscribed.put(topic.getKey(), topic.getValue());
        }
        for (Member m : members) {
            System.out.println("member " + m.id + " " + (m.instance == null ? "-" : m.instance) + " "
                    + m.generation + " " + list(m.topics) + " " + partitions(m.owned));
            subscriptions.put(m.id, subscription(name, m));
        }
        Map<String, List<TopicPartition>> result = assignor(name).assign(subscribed, subscriptions);
        for (Member m : members)
            System.out.println("is " + partitions(sorted(result.get(m.id))));
        System.out.println("end");
        return result;
    }

    static int named;

    static Member newMember(boolean letters, Map<String, Integer> topics, boolean equal, List<Member> others) {
        Member m = new Member();
        Set<String> taken = others.stream().map(o -> o.id).collect(Collectors.toSet());
        do {
            m.id = letters ? String.valueOf((char) ('a' + RANDOM.nextInt(12)))
                    : "c-" + Integer.toHexString(RANDOM.nextInt(1 << 20));
        } while (taken.contains(m.id));
        if (RANDOM.nextInt(4) == 0)
            m.instance = "i" + (900 - named++);
        subscribe(m, topics, equal);
        return m;
    }

    static void subscribe(Member m, Map<String, Integer> topics, boolean equal) {
        m.topics = new ArrayList<>();
        while (m.topics.isEmpty())
            for (String topic : topics.keySet())
                if (equal || RANDOM.nextInt(3) > 0)
                    m.topics.add(topic);
    }

    static void change(List<Member> members, Map<String, Integer> topics, boolean letters, boolean equal) {
        switch (RANDOM.nextInt(equal ? 3 : 4)) {
            case 0:
                if (members.size() < 8)
                    members.add(newMember(letters, topics, equal, members));
                break;
            case 1:
                if (members.size() > 1)
                    members.remove(RANDOM.nextInt(members.size()));
                break;
            case 2:
                topics.merge(topics.keySet().iterator().next(), 1 + RANDOM.nextInt(4), Integer::sum);
                break;
            default:
                subscribe(members.get(RANDOM.nextInt(members.size())), topics, false);
        }
        for (Member m : members) /* a consumer leaves what it no longer subscribes to */
            m.owned = m.owned.stream().filter(p -> m.topics.contains(p.topic())).collect(Collectors.toList());
    }

    /** A group over several rounds; members may miss one, and claim what they had before it. */
    static void chain(String name, boolean letters, boolean equal, int rounds, boolean strange) {
        Map<String, Integer> topics = new TreeMap<>();
        for (int n = 1 + RANDOM.nextInt(4); n > 0; n--)
            topics.put(String.valueOf((char) ('a' + RANDOM.nextInt(8))), 1 + RANDOM.nextInt(7));
        List<Member> members = new ArrayList<>();
        for (int n = 1 + RANDOM.nextInt(6); n > 0; n--)
            members.add(newMember(letters, topics, equal, members));
        for (int generation = 1; generation <= rounds; generation++) {
            Collections.shuffle(members, RANDOM);
            Map<String, List<TopicPartition>> result = round(name, topics, members);
            for (Member m : members)
                if (!strange || RANDOM.nextInt(4) > 0) {
                    m.owned = sorted(result.get(m.id));
                    m.generation = generation;
                }
            for (int n = 1 + RANDOM.nextInt(3); n > 0; n--)
                change(members, topics, letters, equal);
        }
    }

    static void assignments() {
        for (int i = 0; i < 50; i++) {
            chain("range", i % 2 == 0, i % 3 == 0, 1, false);
            chain("roundrobin", i % 2 == 0, i % 3 == 0, 1, false);
        }
        for (int i = 0; i < 96; i++)
            chain(i % 2 == 0 ? "sticky" : "cooperative-sticky", i % 4 < 2, i % 8 < 4, 4, i % 16 >= 8);
    }
}
