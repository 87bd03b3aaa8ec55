// A client made with QuickFIX: logs on, sends orders, forgets what it has received and has it sent again, logs out.
// What it sees goes to standard output, a line each.
#include <quickfix/Application.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketInitiator.h>

#include <iostream>
#include <string>

using namespace FIX;

struct Desk : NullApplication {
  SessionID session;
  int echoes = 0;

  void onLogon(const SessionID& id) override {
    session = id;
    std::cout << "logged on" << std::endl;
    for (int n = 1; n <= 3; ++n) order(n);
  }

  void onLogout(const SessionID&) override { std::cout << "logged out" << std::endl; }

  void fromApp(const Message& message, const SessionID&)
      throw(FieldNotFound, IncorrectDataFormat, IncorrectTagValue, UnsupportedMessageType) override {
    const bool again = message.getHeader().isSetField(43);
    std::cout << "echo " << message.getField(11) << " of " << message.getField(38) << (again ? " again" : "") << std::endl;
    ++echoes;
    // The message at hand still counts when we return, so the second and third echo are missed, not the first.
    if (echoes == 3) {
      Session::lookupSession(session)->setNextTargetMsgSeqNum(2);
      order(4);
    }
    if (echoes == 6) Session::lookupSession(session)->logout("done");
  }

  void order(int n) {
    Message message;
    message.getHeader().setField(35, "D");
    message.setField(11, std::to_string(n));
    message.setField(38, "002000.00");
    message.setField(40, "1");
    message.setField(54, "1");
    message.setField(55, "AAPL");
    message.setField(60, "20260105-12:00:00");
    Session::sendToTarget(message, session);
  }
};

int main(int, char** arguments) {
  Desk client;
  MemoryStoreFactory store;
  SessionSettings settings(arguments[1]);
  SocketInitiator initiator(client, store, settings);
  initiator.start();
  while (client.echoes < 6 || initiator.isLoggedOn()) process_sleep(0.02);
  initiator.stop();
  return 0;
}
