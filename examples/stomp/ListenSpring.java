import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.Semaphore;

import org.springframework.messaging.simp.stomp.StompCommand;
import org.springframework.messaging.simp.stomp.StompFrameHandler;
import org.springframework.messaging.simp.stomp.StompHeaders;
import org.springframework.messaging.simp.stomp.StompSession;
import org.springframework.messaging.simp.stomp.StompSessionHandlerAdapter;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.web.socket.WebSocketHttpHeaders;
import org.springframework.web.socket.client.standard.StandardWebSocketClient;
import org.springframework.web.socket.messaging.WebSocketStompClient;

/**
 * Connects OrderListener, and connects it again when the connection breaks. Needs spring-websocket and a WebSocket
 * container such as Tyrus (from Maven Central).
 *
 * <pre>java ListenSpring [URL] [FILE]</pre>
 *
 * URL is ws://HOST:PORT/stomp or wss://HOST:PORT/stomp, by default ws://localhost:9090/stomp. FILE keeps the id of the last
 * event. RIALTO_LOGIN and RIALTO_PASSCODE in the environment log in.
 */
public class ListenSpring {
    public static void main(String[] arguments) throws InterruptedException {
        String url = arguments.length > 0 ? arguments[0] : "ws://localhost:9090/stomp";
        Path lastEvent = Path.of(arguments.length > 1 ? arguments[1] : "last-event");
        ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
        scheduler.initialize();
        WebSocketStompClient client = new WebSocketStompClient(new StandardWebSocketClient());
        client.setTaskScheduler(scheduler);
        client.setDefaultHeartbeat(new long[] {10_000, 10_000});
        StompHeaders login = new StompHeaders();
        // A desk without users needs no login.
        if (System.getenv("RIALTO_LOGIN") != null) {
            login.setLogin(System.getenv("RIALTO_LOGIN"));
            login.setPasscode(System.getenv("RIALTO_PASSCODE"));
        }
        while (true) {
            Semaphore ended = new Semaphore(0);
            client.connect(url, new WebSocketHttpHeaders(), login, new OrderListener(lastEvent, ended::release));
            ended.acquire();
            Thread.sleep(1_000);
        }
    }
}

/**
 * Hears what becomes of orders, with Spring's STOMP client, and goes on where it stopped. Spring calls
 * {@link #afterConnected} after every connect; ListenSpring connects again when the connection breaks.
 */
class OrderListener extends StompSessionHandlerAdapter {
    private final Path lastEvent;
    private final Runnable ended;

    OrderListener(Path lastEvent, Runnable ended) {
        this.lastEvent = lastEvent;
        this.ended = ended;
    }

    @Override
    public void afterConnected(StompSession session, StompHeaders connected) {
        // Orders that are placed by hand belong to the strategy SERVER.
        StompHeaders orders = new StompHeaders();
        orders.setDestination("/topic/order.SERVER.*");
        orders.set("snapshot", "true");
        session.subscribe(orders, new Handler(this::onOrder));
        StompHeaders status = new StompHeaders();
        status.setDestination("/topic/order-status.SERVER.*");
        status.set("from-sequence", lastEventId());
        session.subscribe(status, new Handler(this::onStatus));
        System.out.println("listening");
    }

    private String lastEventId() {
        try {
            return Files.exists(lastEvent) ? Files.readString(lastEvent).trim() : "0";
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    /** The last value of each open order; what happens to it afterwards comes by the other subscription. */
    private void onOrder(StompHeaders headers, String body) {
        if ("true".equals(headers.getFirst("snapshot"))) {
            System.out.println("standing " + body);
        }
    }

    private void onStatus(StompHeaders headers, String body) {
        System.out.println(body);
        try {
            // Written down when the work is done: what was not done is delivered again.
            Path beside = Path.of(lastEvent + ".new");
            Files.writeString(beside, headers.getFirst("event-id"));
            // In one step, so that the file is whole whenever the program ends.
            Files.move(beside, lastEvent, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public void handleFrame(StompHeaders headers, Object payload) {
        System.err.println("refused: " + headers.getFirst("message"));
    }

    @Override
    public void handleException(
            StompSession session, StompCommand command, StompHeaders headers, byte[] payload, Throwable error) {
        System.err.println("not understood: " + error.getMessage());
    }

    @Override
    public void handleTransportError(StompSession session, Throwable error) {
        System.err.println("not connected: " + error.getMessage());
        ended.run();
    }

    private interface Work {
        void on(StompHeaders headers, String body);
    }

    private static class Handler implements StompFrameHandler {
        private final Work work;

        Handler(Work work) {
            this.work = work;
        }

        @Override
        public Type getPayloadType(StompHeaders headers) {
            return byte[].class;
        }

        @Override
        public void handleFrame(StompHeaders headers, Object payload) {
            work.on(headers, new String((byte[]) payload, StandardCharsets.UTF_8));
        }
    }
}
