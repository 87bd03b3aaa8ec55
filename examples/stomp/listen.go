// Hears what becomes of orders, and goes on where it stopped when the connection breaks or the program starts again. It
// needs nothing but Go's own library.
//
//	go run listen.go [URL] [FILE]
//
// URL is tcp://HOST:PORT or tls://HOST:PORT, by default tcp://localhost:61613. FILE keeps the id of the last event, by
// default last-event; without it the program begins with the first event that the server has.
//
// Environment: RIALTO_LOGIN and RIALTO_PASSCODE log in (a user and the password, or any name and a token); RIALTO_CA is the
// certificate that TLS is checked against, such as data/tls/cert.pem.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Silence for longer than two heart-beats of ten seconds is an end.
const patience = 20 * time.Second

type frame struct {
	command string
	headers map[string]string
	body    []byte
}

type status struct {
	IntID  string `json:"intId"`
	Status string `json:"status"`
}

func argument(place int, otherwise string) string {
	if len(os.Args) > place {
		return os.Args[place]
	}
	return otherwise
}

func dial(address *url.URL) (net.Conn, error) {
	if address.Scheme != "tls" {
		return net.DialTimeout("tcp", address.Host, patience)
	}
	known := x509.NewCertPool()
	certificate, err := os.ReadFile(os.Getenv("RIALTO_CA"))
	if err != nil {
		return nil, err
	}
	known.AppendCertsFromPEM(certificate)
	return tls.Dial("tcp", address.Host, &tls.Config{RootCAs: known})
}

// Headers of CONNECT are not escaped; those of the other frames would be, had they a colon or a line end in them.
func send(to io.Writer, command string, headers ...string) error {
	_, err := fmt.Fprintf(to, "%s\n%s\n\n\x00", command, strings.Join(headers, "\n"))
	return err
}

var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\c`, ":")

func receive(from *bufio.Reader) (frame, error) {
	line := "\n"
	var err error
	// A line end between frames is a heart-beat.
	for line == "\n" || line == "\r\n" {
		if line, err = from.ReadString('\n'); err != nil {
			return frame{}, err
		}
	}
	read := frame{command: strings.TrimRight(line, "\r\n"), headers: map[string]string{}}
	for {
		if line, err = from.ReadString('\n'); err != nil {
			return frame{}, err
		}
		name, value, found := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !found {
			break
		}
		if _, known := read.headers[unescape.Replace(name)]; !known {
			read.headers[unescape.Replace(name)] = unescape.Replace(value)
		}
	}
	return body(from, read)
}

func body(from *bufio.Reader, read frame) (frame, error) {
	length, err := strconv.Atoi(read.headers["content-length"])
	if err != nil {
		read.body, err = from.ReadBytes(0)
		return read, err
	}
	read.body = make([]byte, length+1)
	_, err = io.ReadFull(from, read.body)
	read.body = read.body[:length]
	return read, err
}

// Sends a line end every ten seconds until the connection is closed.
func beat(connection net.Conn) {
	for {
		time.Sleep(10 * time.Second)
		if _, err := connection.Write([]byte("\n")); err != nil {
			return
		}
	}
}

func take(read frame, lastEvent string) error {
	switch read.command {
	case "RECEIPT":
		fmt.Println("listening")
	case "ERROR":
		return errors.New("refused: " + read.headers["message"])
	case "MESSAGE":
		var told status
		if err := json.Unmarshal(read.body, &told); err != nil {
			return err
		}
		if read.headers["subscription"] == "orders" {
			// The last value of each open order; what happens to it afterwards comes by the other subscription.
			if read.headers["snapshot"] == "true" {
				fmt.Println("standing", told.IntID, told.Status)
			}
			return nil
		}
		fmt.Println(told.IntID, told.Status)
		// Written down when the work is done: what was not done is delivered again.
		if err := os.WriteFile(lastEvent+".new", []byte(read.headers["event-id"]), 0o600); err != nil {
			return err
		}
		// In one step, so that the file is whole whenever the program ends.
		return os.Rename(lastEvent+".new", lastEvent)
	}
	return nil
}

// Until the connection ends.
func listen(address *url.URL, lastEvent string) error {
	connection, err := dial(address)
	if err != nil {
		return err
	}
	defer connection.Close()
	from := bufio.NewReader(connection)
	login := []string{"accept-version:1.2", "host:" + address.Hostname(), "heart-beat:10000,10000"}
	// A desk without users needs no login.
	if user := os.Getenv("RIALTO_LOGIN"); user != "" {
		login = append(login, "login:"+user, "passcode:"+os.Getenv("RIALTO_PASSCODE"))
	}
	if err := send(connection, "CONNECT", login...); err != nil {
		return err
	}
	if answer, err := receive(from); err != nil || answer.command != "CONNECTED" {
		return fmt.Errorf("refused: %s %w", answer.headers["message"], err)
	}
	go beat(connection)
	last := "0"
	if kept, err := os.ReadFile(lastEvent); err == nil {
		last = strings.TrimSpace(string(kept))
	}
	// Orders that are placed by hand belong to the strategy SERVER.
	if err := send(connection, "SUBSCRIBE", "id:orders", "destination:/topic/order.SERVER.*", "snapshot:true"); err != nil {
		return err
	}
	if err := send(connection, "SUBSCRIBE", "id:status", "destination:/topic/order-status.SERVER.*",
		"from-sequence:"+last, "receipt:subscribed"); err != nil {
		return err
	}
	for {
		connection.SetReadDeadline(time.Now().Add(patience))
		read, err := receive(from)
		if err != nil {
			return err
		}
		if err := take(read, lastEvent); err != nil {
			return err
		}
	}
}

func main() {
	address, err := url.Parse(argument(1, "tcp://localhost:61613"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for {
		fmt.Fprintln(os.Stderr, listen(address, argument(2, "last-event")))
		time.Sleep(time.Second)
	}
}
