// Buys 100 Apple at the market over FIX, prints what becomes of the order, and logs out. Needs quickfixj-core and
// quickfixj-messages-fix44 (2.3 or later) on the class path:
//
//   java -cp 'lib/*' Client.java client.cfg my-first
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.concurrent.CountDownLatch;
import quickfix.*;
import quickfix.field.*;
import quickfix.fix44.NewOrderSingle;

public class Client extends ApplicationAdapter {
  private final String order;
  private final CountDownLatch ended = new CountDownLatch(1);

  Client(String order) {
    this.order = order;
  }

  @Override
  public void onLogon(SessionID session) {
    System.out.println("logged on");
    NewOrderSingle buy =
        new NewOrderSingle(
            new ClOrdID(order),
            new Side(Side.BUY),
            new TransactTime(LocalDateTime.now(ZoneOffset.UTC)),
            new OrdType(OrdType.MARKET));
    buy.set(new OrderQty(100));
    buy.set(new SecurityID("1"));
    buy.set(new Symbol("AAPL"));
    buy.setString(7002, "SERVER"); // the strategy that trades
    try {
      Session.sendToTarget(buy, session);
    } catch (SessionNotFound error) {
      throw new IllegalStateException(error);
    }
  }

  @Override
  public void fromApp(Message message, SessionID session) throws FieldNotFound {
    if (!message.getHeader().getString(35).equals("8") || !message.getString(11).equals(order)) return;
    String status = message.getString(39);
    String text = message.isSetField(58) ? " " + message.getString(58) : "";
    System.out.println(message.getString(150) + "/" + status + " filled " + message.getString(14) + text);
    if ("248".contains(status)) ended.countDown();
  }

  public static void main(String[] arguments) throws Exception {
    SessionSettings settings = new SessionSettings(arguments[0]);
    Client client = new Client(arguments[1]);
    Initiator initiator =
        new SocketInitiator(
            client,
            new FileStoreFactory(settings),
            settings,
            new FileLogFactory(settings),
            new DefaultMessageFactory());
    initiator.start();
    client.ended.await();
    initiator.stop();
  }
}
