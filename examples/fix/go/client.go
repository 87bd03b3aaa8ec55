// Buys 100 Apple at the market over FIX, prints what becomes of the order, and logs out.
//
//	go mod init client && go get github.com/quickfixgo/quickfix@latest
//	go run . client.cfg my-first
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/quickfixgo/quickfix"
	"github.com/quickfixgo/quickfix/log/file"
	filestore "github.com/quickfixgo/quickfix/store/file"
)

type client struct {
	order string
	ended chan struct{}
}

func (c *client) OnLogon(session quickfix.SessionID) {
	fmt.Println("logged on")
	buy := quickfix.NewMessage()
	buy.Header.SetString(35, "D")
	now := time.Now().UTC().Format("20060102-15:04:05.000")
	terms := map[quickfix.Tag]string{
		11: c.order, 54: "1", 38: "100", 40: "1", 48: "1", 55: "AAPL", 60: now, 7002: "SERVER",
	}
	for tag, value := range terms {
		buy.Body.SetString(tag, value)
	}
	if err := quickfix.SendToTarget(buy, session); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (c *client) FromApp(message *quickfix.Message, _ quickfix.SessionID) quickfix.MessageRejectError {
	get := func(tag quickfix.Tag) string {
		value, _ := message.Body.GetString(tag)
		return value
	}
	kind, _ := message.Header.GetString(35)
	if kind != "8" || get(11) != c.order {
		return nil
	}
	fmt.Println(strings.TrimSpace(get(150) + "/" + get(39) + " filled " + get(14) + " " + get(58)))
	if strings.Contains("248", get(39)) {
		close(c.ended)
	}
	return nil
}

func (c *client) OnCreate(quickfix.SessionID)                       {}
func (c *client) OnLogout(quickfix.SessionID)                       {}
func (c *client) ToAdmin(*quickfix.Message, quickfix.SessionID)     {}
func (c *client) ToApp(*quickfix.Message, quickfix.SessionID) error { return nil }
func (c *client) FromAdmin(*quickfix.Message, quickfix.SessionID) quickfix.MessageRejectError {
	return nil
}

func main() {
	config, err := os.Open(os.Args[1])
	exitOn(err)
	settings, err := quickfix.ParseSettings(config)
	exitOn(err)
	logs, err := file.NewLogFactory(settings)
	exitOn(err)
	application := &client{order: os.Args[2], ended: make(chan struct{})}
	initiator, err := quickfix.NewInitiator(application, filestore.NewStoreFactory(settings), settings, logs)
	exitOn(err)
	exitOn(initiator.Start())
	<-application.ended
	initiator.Stop()
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
