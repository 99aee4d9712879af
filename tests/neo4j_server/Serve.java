import java.nio.file.Path;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.kernel.internal.GraphDatabaseAPI;

/** Serves the Neo4j home given as the only argument; ends when stdin closes. */
public class Serve {
    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        var service = new DatabaseManagementServiceBuilder(home)
                .loadPropertiesFromFile(home.resolve("conf/neo4j.conf"))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        var ports = ((GraphDatabaseAPI) service.database("neo4j"))
                .getDependencyResolver()
                .resolveDependency(ConnectorPortRegister.class);
        var http = ports.getLocalAddress(ConnectorType.HTTP);
        System.out.println("ready bolt=" + ports.getLocalAddress(ConnectorType.BOLT).getPort()
                + (http == null ? "" : " http=" + http.getPort()));
        System.out.flush();
        while (System.in.read() >= 0) {
            // the test process lives as long as the pipe is open
        }
        System.exit(0);
    }
}
