import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;

/** What an administrator does to topics. */
final class Topics {
    final Admin admin;

    Topics(Admin admin) {
        this.admin = admin;
    }

    String run(String command, List<String> words) throws Exception {
        String topic = words.get(0);
        switch (command) {
        case "create": return create(topic, words.get(1), words.subList(2, words.size()));
        case "delete":
            admin.deleteTopics(List.of(topic)).all().get();
            return "";
        case "partitions":
            int count = Helper.integer(words.get(1));
            admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(count))).all().get();
            return "";
        case "config": return config(topic, words.get(1), words.get(2));
        case "trim": return trim(Helper.partition(words, 0), Helper.number(words.get(2)));
        case "reassign": return reassign(Helper.partition(words, 0), nodes(words.get(2)));
        case "elect":
            admin.electLeaders(ElectionType.PREFERRED, Set.of(Helper.partition(words, 0)))
                .all().get();
            return "";
        case "start": return offset(Helper.partition(words, 0), OffsetSpec.earliest());
        case "end": return offset(Helper.partition(words, 0), OffsetSpec.latest());
        case "at":
            return offset(Helper.partition(words, 0),
                          OffsetSpec.forTimestamp(Helper.number(words.get(2))));
        case "describe": return describe(topic, Helper.integer(words.get(1)));
        default: throw new IllegalArgumentException(command);
        }
    }

    /** The partitions: how many, or the replicas of each as "1,2;2,3"; then NAME=VALUE configs. */
    String create(String topic, String partitions, List<String> settings) throws Exception {
        Map<String, String> configs = new HashMap<>();
        for (String setting : settings)
            configs.put(setting.split("=", 2)[0], setting.split("=", 2)[1]);
        NewTopic made;
        if (partitions.matches("\\d+")) {
            made = new NewTopic(topic, Helper.integer(partitions), (short) 1);
        } else {
            Map<Integer, List<Integer>> replicas = new HashMap<>();
            for (String list : partitions.split(";"))
                replicas.put(replicas.size(), nodes(list));
            made = new NewTopic(topic, replicas);
        }
        admin.createTopics(List.of(made.configs(configs))).all().get();
        return "";
    }

    static List<Integer> nodes(String list) {
        List<Integer> nodes = new ArrayList<>();
        for (String node : list.split(","))
            if (!node.isEmpty())
                nodes.add(Helper.integer(node));
        return nodes;
    }

    String config(String topic, String name, String value) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        AlterConfigOp set =
            new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(set))).all().get();
        return "";
    }

    String trim(TopicPartition partition, long offset) throws Exception {
        RecordsToDelete before = RecordsToDelete.beforeOffset(offset);
        admin.deleteRecords(Map.of(partition, before)).all().get();
        return "";
    }

    String reassign(TopicPartition partition, List<Integer> nodes) throws Exception {
        Optional<NewPartitionReassignment> to = Optional.of(new NewPartitionReassignment(nodes));
        admin.alterPartitionReassignments(Map.of(partition, to)).all().get();
        return "";
    }

    String offset(TopicPartition partition, OffsetSpec which) throws Exception {
        return "" + admin.listOffsets(Map.of(partition, which)).partitionResult(partition)
                        .get().offset();
    }

    /** LEADER REPLICAS IN-SYNC; the leader is -1 while there is none. */
    String describe(String topic, int partition) throws Exception {
        TopicPartitionInfo info = admin.describeTopics(List.of(topic)).topicNameValues().get(topic)
                                      .get().partitions().get(partition);
        int leader = info.leader() == null ? -1 : info.leader().id();
        return leader + " " + ids(info.replicas()) + " " + ids(info.isr());
    }

    static String ids(List<Node> nodes) {
        List<String> ids = new ArrayList<>();
        for (Node node : nodes)
            ids.add(Integer.toString(node.id()));
        return String.join(",", ids);
    }
}
