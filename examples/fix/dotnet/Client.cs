// Buys 100 Apple at the market over FIX, prints what becomes of the order, and logs out. A console project with the packages
// QuickFIXn.Core and QuickFIXn.FIX4.4 (1.12 or later):
//
//   dotnet run -- client.cfg my-first
using System;
using System.Threading;
using QuickFix;
using QuickFix.Fields;
using QuickFix.Logger;
using QuickFix.Store;
using QuickFix.Transport;

class Client : IApplication
{
    readonly ManualResetEventSlim ended = new ManualResetEventSlim();
    readonly string order;

    Client(string order) { this.order = order; }

    static void Main(string[] args)
    {
        var settings = new SessionSettings(args[0]);
        var client = new Client(args[1]);
        var initiator = new SocketInitiator(
            client, new FileStoreFactory(settings), settings, new FileLogFactory(settings));
        initiator.Start();
        client.ended.Wait();
        initiator.Stop();
    }

    public void OnLogon(SessionID session)
    {
        Console.WriteLine("logged on");
        var buy = new QuickFix.FIX44.NewOrderSingle(
            new ClOrdID(order), new Symbol("AAPL"), new Side(Side.BUY), new TransactTime(DateTime.UtcNow),
            new OrdType(OrdType.MARKET));
        buy.Set(new OrderQty(100));
        buy.Set(new SecurityID("1"));
        buy.SetField(new StringField(7002, "SERVER")); // the strategy that trades
        Session.SendToTarget(buy, session);
    }

    public void FromApp(Message message, SessionID session)
    {
        if (message.Header.GetString(35) != "8" || message.GetString(11) != order) return;
        var status = message.GetString(39);
        var text = message.IsSetField(58) ? " " + message.GetString(58) : "";
        Console.WriteLine($"{message.GetString(150)}/{status} filled {message.GetString(14)}{text}");
        if ("248".Contains(status)) ended.Set();
    }

    public void OnCreate(SessionID session) { }
    public void OnLogout(SessionID session) { }
    public void ToAdmin(Message message, SessionID session) { }
    public void FromAdmin(Message message, SessionID session) { }
    public void ToApp(Message message, SessionID session) { }
}
