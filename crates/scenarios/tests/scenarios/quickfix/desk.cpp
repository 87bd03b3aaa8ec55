// A FIX client made with QuickFIX, whose trader is a story: each line of standard input is a message to send
// (35=D|11=a|…, with a group as 146=[55=A;55=B]), and the end of the input logs out. All it hears goes to standard output, a
// line each.
#include <quickfix/Application.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketInitiator.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>

using namespace FIX;

struct Desk : NullApplication {
  // Whether its Logon says which number it expects (789). QuickFIX does so by itself from 1.16 on.
  bool saysNextExpected = false;
  // Whether it prints messages of the session too, so that their numbers can be counted.
  bool printsAll = false;

  void toAdmin(Message& message, const SessionID& id) override {
    if (saysNextExpected && message.getHeader().getField(35) == "A")
      message.setField(789, std::to_string(Session::lookupSession(id)->getExpectedTargetNum()));
  }

  void onLogon(const SessionID&) override { std::cout << "logged on" << std::endl; }

  void onLogout(const SessionID&) override { std::cout << "logged out" << std::endl; }

  void fromAdmin(const Message& message, const SessionID&)
      throw(FieldNotFound, IncorrectDataFormat, IncorrectTagValue, RejectLogon) override {
    if (printsAll || message.getHeader().getField(35) == "3") hear(message);
  }

  void fromApp(const Message& message, const SessionID&)
      throw(FieldNotFound, IncorrectDataFormat, IncorrectTagValue, UnsupportedMessageType) override {
    hear(message);
  }

  void hear(const Message& message) {
    std::string text = message.toString();
    std::replace(text.begin(), text.end(), '\001', '|');
    std::cout << text << std::endl;
  }
};

// Entries with semicolons between them, and their fields with commas.
void addGroup(Message& message, int count, const std::string& entries) {
  std::istringstream rest(entries.substr(1, entries.size() - 2));
  for (std::string entry; std::getline(rest, entry, ';');) {
    Group group(count, std::stoi(entry));
    std::istringstream fields(entry);
    for (std::string field; std::getline(fields, field, ',');)
      group.setField(std::stoi(field), field.substr(field.find('=') + 1));
    message.addGroup(group);
  }
}

void send(const std::string& line, const SessionID& session) {
  Message message;
  std::istringstream fields(line);
  for (std::string field; std::getline(fields, field, '|');) {
    const std::size_t equals = field.find('=');
    const int tag = std::stoi(field.substr(0, equals));
    const std::string value = field.substr(equals + 1);
    if (tag == 35 || tag == 97) {
      message.getHeader().setField(tag, value);
    } else if (value[0] == '[') {
      addGroup(message, tag, value);
    } else {
      message.setField(tag, value);
    }
  }
  Session::sendToTarget(message, session);
}

int main(int count, char** arguments) {
  Desk desk;
  desk.saysNextExpected = count > 2 && std::string(arguments[2]) == "next-expected";
  desk.printsAll = count > 2 && std::string(arguments[2]) == "all";
  MemoryStoreFactory store;
  SessionSettings settings(arguments[1]);
  SocketInitiator initiator(desk, store, settings);
  initiator.start();
  const SessionID session = *initiator.getSessions().begin();
  for (std::string line; std::getline(std::cin, line);) send(line, session);
  initiator.stop();
  return 0;
}
