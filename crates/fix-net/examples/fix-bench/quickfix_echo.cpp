// The peer of the benchmark: an acceptor made with QuickFIX that echoes orders, security definitions and e-mails, with
// its memory store and without a log. It does what our fix-echo does, by the rules of its own settings file.
#include <quickfix/Application.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>

#include <iostream>
#include <set>
#include <string>

using namespace FIX;

struct Echo : NullApplication {
  std::set<std::string> seen;

  void onLogout(const SessionID&) override { seen.clear(); }

  void fromApp(const Message& message, const SessionID& session)
      throw(FieldNotFound, IncorrectDataFormat, IncorrectTagValue, UnsupportedMessageType) override {
    const std::string& type = message.getHeader().getField(35);
    if (type != "D" && type != "d" && type != "C") throw UnsupportedMessageType();
    if (type == "D") {
      const bool known = !seen.insert(message.getField(11)).second;
      const bool again = message.getHeader().isSetField(97) && message.getHeader().getField(97) == "Y";
      if (known && again) return;
    }
    Message echo = message;
    Session::sendToTarget(echo, session);
  }
};

int main(int, char** arguments) {
  Echo echo;
  MemoryStoreFactory store;
  SessionSettings settings(arguments[1]);
  SocketAcceptor acceptor(echo, store, settings);
  acceptor.start();
  std::cout << "listening" << std::endl;
  // Whoever started us ends us by closing our standard input.
  std::cin.get();
  acceptor.stop(true);
  return 0;
}
