import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.kernel.internal.GraphDatabaseAPI;

/** Serves Neo4j homes: reads lines `start HOME` and `stop HOME`, and ends when stdin closes. */
public class Serve {
    public static void main(String[] arguments) throws Exception {
        Map<String, DatabaseManagementService> services = new HashMap<>();
        // the test process lives as long as the pipe is open
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", 2);
            if (words[0].equals("stop")) {
                services.remove(words[1]).shutdown();
                continue;
            }
            try {
                services.put(words[1], start(Path.of(words[1])));
            } catch (Exception error) {
                error.printStackTrace();
                System.out.println("failed");
            }
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static DatabaseManagementService start(Path home) {
        var service = new DatabaseManagementServiceBuilder(home)
                .loadPropertiesFromFile(home.resolve("conf/neo4j.conf"))
                .build();
        var ports = ((GraphDatabaseAPI) service.database("neo4j"))
                .getDependencyResolver()
                .resolveDependency(ConnectorPortRegister.class);
        var http = ports.getLocalAddress(ConnectorType.HTTP);
        System.out.println("ready bolt=" + ports.getLocalAddress(ConnectorType.BOLT).getPort()
                + (http == null ? "" : " http=" + http.getPort()));
        return service;
    }
}
