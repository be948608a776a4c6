import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** What a broker says of itself through JMX on a port of its own. */
final class Metric {
    private Metric() {
    }

    /** The bytes that consumers, not replicas, fetched of a topic from this broker. */
    static String bytesOut(int port, String topic) throws Exception {
        JMXServiceURL url = new JMXServiceURL(
            "service:jmx:rmi:///jndi/rmi://127.0.0.1:" + port + "/jmxrmi");
        ObjectName name = new ObjectName(
            "kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec,topic=" + topic);
        try (JMXConnector connector = JMXConnectorFactory.connect(url)) {
            MBeanServerConnection beans = connector.getMBeanServerConnection();
            return beans.isRegistered(name) ? beans.getAttribute(name, "Count").toString() : "0";
        }
    }
}
