// Hears what becomes of orders, and goes on where it stopped when the connection breaks or the program starts again. It
// needs nothing but the library of .NET or Mono.
//
//     mcs Listen.cs && mono Listen.exe [URL] [FILE]
//
// URL is tcp://HOST:PORT or tls://HOST:PORT, by default tcp://localhost:61613; for tls the certificate must be one that the
// system knows. FILE keeps the id of the last event, by default last-event; without it the program begins with the first
// event that the server has. RIALTO_LOGIN and RIALTO_PASSCODE in the environment log in: a user and the password, or any
// name and a token.

using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;

class Frame
{
    public string Command;
    public Dictionary<string, string> Headers = new Dictionary<string, string>();
    public string Body;

    public string Header(string name)
    {
        string value;
        return Headers.TryGetValue(name, out value) ? value : "";
    }

    // The text of a field; a program of substance uses a JSON library.
    public string Field(string name)
    {
        return Regex.Match(Body, "\"" + name + "\":\"([^\"]*)\"").Groups[1].Value;
    }
}

class Listen
{
    // Silence for longer than two heart-beats of ten seconds is an end.
    const int Patience = 20000;

    static void Main(string[] arguments)
    {
        var url = new Uri(arguments.Length > 0 ? arguments[0] : "tcp://localhost:61613");
        var lastEvent = arguments.Length > 1 ? arguments[1] : "last-event";
        while (true)
        {
            try
            {
                UntilTheEnd(url, lastEvent);
            }
            catch (Exception error)
            {
                Console.Error.WriteLine(error.Message);
            }
            Thread.Sleep(1000);
        }
    }

    static void UntilTheEnd(Uri url, string lastEvent)
    {
        using (var client = new TcpClient(url.Host, url.Port))
        using (var stream = Open(client, url))
        {
            client.ReceiveTimeout = Patience;
            var login = new List<string> { "accept-version:1.2", "host:" + url.Host, "heart-beat:10000,10000" };
            var user = Environment.GetEnvironmentVariable("RIALTO_LOGIN");
            // A desk without users needs no login.
            if (user != null)
            {
                login.Add("login:" + user);
                login.Add("passcode:" + Environment.GetEnvironmentVariable("RIALTO_PASSCODE"));
            }
            Send(stream, "CONNECT", login.ToArray());
            var answer = Receive(stream);
            if (answer.Command != "CONNECTED") throw new IOException("refused: " + answer.Header("message"));
            using (new Timer(_ => Beat(stream), null, Patience / 2, Patience / 2))
            {
                var last = File.Exists(lastEvent) ? File.ReadAllText(lastEvent).Trim() : "0";
                // Orders that are placed by hand belong to the strategy SERVER.
                Send(stream, "SUBSCRIBE", "id:orders", "destination:/topic/order.SERVER.*", "snapshot:true");
                Send(stream, "SUBSCRIBE", "id:status", "destination:/topic/order-status.SERVER.*", "from-sequence:" + last,
                    "receipt:subscribed");
                while (true) Take(Receive(stream), lastEvent);
            }
        }
    }

    static Stream Open(TcpClient client, Uri url)
    {
        if (url.Scheme != "tls") return client.GetStream();
        var secure = new SslStream(client.GetStream());
        secure.AuthenticateAsClient(url.Host);
        return secure;
    }

    static void Take(Frame frame, string lastEvent)
    {
        if (frame.Command == "RECEIPT") Console.WriteLine("listening");
        if (frame.Command == "ERROR") throw new IOException("refused: " + frame.Header("message"));
        if (frame.Command != "MESSAGE") return;
        var told = frame.Field("intId") + " " + frame.Field("status");
        if (frame.Header("subscription") == "orders")
        {
            // The last value of each open order; what happens to it afterwards comes by the other subscription.
            if (frame.Header("snapshot") == "true") Console.WriteLine("standing " + told);
            return;
        }
        Console.WriteLine(told);
        // Written down when the work is done: what was not done is delivered again.
        File.WriteAllText(lastEvent + ".new", frame.Header("event-id"));
        // In one step, so that the file is whole whenever the program ends.
        if (File.Exists(lastEvent)) File.Replace(lastEvent + ".new", lastEvent, null);
        else File.Move(lastEvent + ".new", lastEvent);
    }

    // Headers of CONNECT are not escaped; those of the other frames would be, had they a colon or a line end in them.
    static void Send(Stream stream, string command, params string[] headers)
    {
        var bytes = Encoding.UTF8.GetBytes(command + "\n" + string.Join("\n", headers) + "\n\n\0");
        lock (stream) stream.Write(bytes, 0, bytes.Length);
    }

    static void Beat(Stream stream)
    {
        try
        {
            lock (stream) stream.WriteByte((byte)'\n');
        }
        catch (Exception)
        {
            // Whoever reads hears of it.
        }
    }

    static Frame Receive(Stream stream)
    {
        var frame = new Frame();
        // A line end between frames is a heart-beat.
        do frame.Command = Line(stream); while (frame.Command == "");
        for (var line = Line(stream); line != ""; line = Line(stream))
        {
            var colon = line.IndexOf(':');
            var name = Unescaped(line.Substring(0, colon));
            if (!frame.Headers.ContainsKey(name)) frame.Headers[name] = Unescaped(line.Substring(colon + 1));
        }
        frame.Body = Encoding.UTF8.GetString(UntilNul(stream));
        return frame;
    }

    static string Unescaped(string text)
    {
        return Regex.Replace(text, @"\\(.)", found =>
        {
            var letter = found.Groups[1].Value;
            return letter == "n" ? "\n" : letter == "r" ? "\r" : letter == "c" ? ":" : letter;
        });
    }

    static string Line(Stream stream)
    {
        var bytes = new List<byte>();
        for (var one = Byte(stream); one != '\n'; one = Byte(stream)) bytes.Add(one);
        return Encoding.UTF8.GetString(bytes.ToArray()).TrimEnd('\r');
    }

    // A body of ours is JSON, which has no NUL in it.
    static byte[] UntilNul(Stream stream)
    {
        var bytes = new List<byte>();
        for (var one = Byte(stream); one != 0; one = Byte(stream)) bytes.Add(one);
        return bytes.ToArray();
    }

    static byte Byte(Stream stream)
    {
        var one = stream.ReadByte();
        if (one < 0) throw new IOException("the server has closed");
        return (byte)one;
    }
}
