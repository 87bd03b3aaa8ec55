// The peer of the benchmark: an initiator made with QuickFIX that sends limit orders, reads their fills and prints one line of figures.
//
//   quickfix-initiator SETTINGS ORDERS UNDER_WAY [FOLDER]
//
// With a folder, that of its store, its sequence numbers are on disk before a message leaves, as ours are.
#include <quickfix/Application.h>
#include <quickfix/FileStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketInitiator.h>
#include <quickfix/fix44/NewOrderSingle.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

using namespace FIX;
using Clock = std::chrono::steady_clock;

// FileStore writes without a sync. A sync is of the file, whoever has it open.
struct SyncedStore : FileStore {
  int numbers;

  SyncedStore(const std::string& folder, const SessionID& session)
      : FileStore(folder, session), numbers(::open((folder + "/FIX.4.4-DESK-VENUE.seqnums").c_str(), O_RDONLY)) {
    if (numbers < 0) throw IOException("no sequence numbers");
  }

  void incrNextSenderMsgSeqNum() throw(IOException) override {
    FileStore::incrNextSenderMsgSeqNum();
    if (fdatasync(numbers) != 0) throw IOException("fdatasync");
  }
};

struct SyncedStoreFactory : MessageStoreFactory {
  std::string folder;
  explicit SyncedStoreFactory(const std::string& folder) : folder(folder) {}
  MessageStore* create(const SessionID& session) override { return new SyncedStore(folder, session); }
  void destroy(MessageStore* store) override { delete static_cast<SyncedStore*>(store); }
};

struct Desk : NullApplication {
  std::mutex mutex;
  std::condition_variable changed;
  SessionID session;
  bool logged_on = false;
  size_t done = 0;
  double bought = 0;
  std::vector<Clock::time_point> sent;
  std::vector<double> times;

  void onLogon(const SessionID& id) override {
    std::lock_guard<std::mutex> lock(mutex);
    session = id;
    logged_on = true;
    changed.notify_one();
  }

  // What an application needs of a fill.
  void fromApp(const Message& report, const SessionID&)
      throw(FieldNotFound, IncorrectDataFormat, IncorrectTagValue, UnsupportedMessageType) override {
    ClOrdID id;
    OrderID order;
    ExecID execution;
    ExecType kind;
    OrdStatus status;
    OrderQty quantity;
    CumQty filled;
    LeavesQty leaves;
    LastQty last;
    LastPx price;
    TransactTime at;
    report.getField(id), report.getField(order), report.getField(execution);
    report.getField(kind), report.getField(status), report.getField(quantity), report.getField(filled);
    report.getField(leaves), report.getField(last), report.getField(price), report.getField(at);
    if (kind != ExecType_TRADE || status != OrdStatus_FILLED || leaves != 0) throw IncorrectTagValue(150);
    std::lock_guard<std::mutex> lock(mutex);
    const size_t number = std::stoul(id.getString());
    times[number] = std::chrono::duration<double, std::micro>(Clock::now() - sent[number]).count();
    bought += last;
    ++done;
    changed.notify_one();
  }
};

static void place(Desk& desk, size_t number) {
  FIX44::NewOrderSingle order(ClOrdID(std::to_string(number)), Side(Side_BUY), TransactTime(3), OrdType(OrdType_LIMIT));
  order.set(Symbol("MSFT"));
  order.set(OrderQty(100));
  order.set(Price(10.5));
  order.set(TimeInForce(TimeInForce_DAY));
  Session::sendToTarget(order, desk.session);
}

static void trade(Desk& desk, size_t orders, size_t under_way) {
  for (size_t number = 0; number < orders; ++number) {
    {
      std::unique_lock<std::mutex> lock(desk.mutex);
      desk.changed.wait(lock, [&] { return number - desk.done < under_way; });
      desk.sent[number] = Clock::now();
    }
    place(desk, number);
  }
  std::unique_lock<std::mutex> lock(desk.mutex);
  desk.changed.wait(lock, [&] { return desk.done == orders; });
}

static double processor_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int count, char** arguments) {
  const size_t orders = std::stoul(arguments[2]), under_way = std::stoul(arguments[3]);
  Desk desk;
  desk.sent.resize(orders);
  desk.times.resize(orders);
  SessionSettings settings(arguments[1]);
  FileStoreFactory plain(settings);
  SyncedStoreFactory synced(count > 4 ? arguments[4] : "");
  MessageStoreFactory& store = count > 4 ? static_cast<MessageStoreFactory&>(synced) : plain;
  SocketInitiator initiator(desk, store, settings);
  initiator.start();
  {
    std::unique_lock<std::mutex> lock(desk.mutex);
    desk.changed.wait(lock, [&] { return desk.logged_on; });
  }
  const auto begun = Clock::now();
  const double spent = processor_seconds();
  trade(desk, orders, under_way);
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  const double processor = processor_seconds() - spent;
  std::sort(desk.times.begin(), desk.times.end());
  std::cout << orders << ' ' << seconds << ' ' << desk.times[orders / 2] << ' ' << desk.times[orders * 99 / 100] << ' '
            << processor * 1e6 / orders << std::endl;
  initiator.stop();
  return desk.bought == 100.0 * orders ? 0 : 1;
}
