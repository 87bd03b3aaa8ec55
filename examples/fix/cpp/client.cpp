// Buys 100 Apple at the market over FIX, prints what becomes of the order, and logs out.
//
//   g++ -std=c++14 -I/usr/include/quickfix -o client client.cpp -lquickfix -lpthread
//   curl -sO http://localhost:9090/docs/fix/FIX44.xml
//   ./client client.cfg my-first
#include <quickfix/Application.h>
#include <quickfix/FileLog.h>
#include <quickfix/FileStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketInitiator.h>
#include <quickfix/fix44/NewOrderSingle.h>

#include <future>
#include <iostream>
#include <string>

struct Client : FIX::NullApplication {
  std::string order;
  std::promise<void> ended;

  void onLogon(const FIX::SessionID& session) override {
    std::cout << "logged on" << std::endl;
    FIX44::NewOrderSingle buy(FIX::ClOrdID(order), FIX::Side(FIX::Side_BUY), FIX::TransactTime(),
                              FIX::OrdType(FIX::OrdType_MARKET));
    buy.set(FIX::OrderQty(100));
    buy.set(FIX::SecurityID("1"));
    buy.set(FIX::Symbol("AAPL"));
    buy.setField(7002, "SERVER");  // the strategy that trades
    FIX::Session::sendToTarget(buy, session);
  }

  void fromApp(const FIX::Message& message, const FIX::SessionID&)
      throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::UnsupportedMessageType) override {
    if (message.getHeader().getField(35) != "8" || message.getField(11) != order) return;
    const std::string status = message.getField(39);
    std::cout << message.getField(150) << "/" << status << " filled " << message.getField(14);
    if (message.isSetField(58)) std::cout << " " << message.getField(58);
    std::cout << std::endl;
    if (status == "2" || status == "4" || status == "8") ended.set_value();
  }
};

int main(int, char** arguments) {
  FIX::SessionSettings settings(arguments[1]);
  FIX::FileStoreFactory store(settings);
  FIX::FileLogFactory log(settings);
  Client client;
  client.order = arguments[2];
  FIX::SocketInitiator initiator(client, store, settings, log);
  initiator.start();
  client.ended.get_future().wait();
  initiator.stop();
  return 0;
}
