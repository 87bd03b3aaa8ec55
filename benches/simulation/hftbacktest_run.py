"""EMA-cross on the shared quotes with hftbacktest (numba strategy, L2 depth feed, queue and latency models on).
Each quote becomes the depth updates that turn the previous top of book into the new one (2 to 4 feed events).
Usage: hftbacktest_run.py DATA_DIR FAST SLOW [N]
"""
import json, resource, sys, time
import hftbacktest as hb
import numpy as np
from hftbacktest import (BUY_EVENT, DEPTH_EVENT, EXCH_EVENT, GTC, LOCAL_EVENT, MARKET, SELL_EVENT, BacktestAsset,
                         HashMapMarketDepthBacktest)
from hftbacktest.types import event_dtype
from numba import njit

data_dir, fast, slow = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
n = int(sys.argv[4]) if len(sys.argv) > 4 else None
q = np.fromfile(f"{data_dir}/quotes.bin", "<i8").reshape(-1, 5)[:n]


@njit
def build(q, out, buy, sell):
    k = 0
    pb = pa = -1
    for i in range(len(q)):
        ts, b, a = q[i, 0], q[i, 1], q[i, 2]
        if pb >= 0 and pb != b:
            out[k].ev, out[k].exch_ts, out[k].local_ts, out[k].px, out[k].qty = buy, ts, ts + 1000, pb / 1e5, 0.0
            k += 1
        if pa >= 0 and pa != a:
            out[k].ev, out[k].exch_ts, out[k].local_ts, out[k].px, out[k].qty = sell, ts, ts + 1000, pa / 1e5, 0.0
            k += 1
        out[k].ev, out[k].exch_ts, out[k].local_ts, out[k].px, out[k].qty = buy, ts, ts + 1000, b / 1e5, q[i, 3]
        k += 1
        out[k].ev, out[k].exch_ts, out[k].local_ts, out[k].px, out[k].qty = sell, ts, ts + 1000, a / 1e5, q[i, 4]
        k += 1
        pb, pa = b, a
    return k


@njit
def cross(hbt, fast, slow):
    kf, ks = 2.0 / (fast + 1), 2.0 / (slow + 1)
    f = s = 0.0
    n = orders = 0
    pos = 0
    state = 0
    while hbt.elapse(1_000_000) == 0:
        d = hbt.depth(0)
        x = (d.best_bid + d.best_ask) * 0.5
        if not (x > 0):
            continue
        if n == 0:
            f = s = x
        else:
            f += kf * (x - f)
            s += ks * (x - s)
        n += 1
        if n < slow:
            continue
        now = 1 if f > s else -1
        if state != 0 and now != state:
            lots = abs(now - pos)
            pos = now
            orders += 1
            hbt.clear_inactive_orders(0)
            if now > 0:
                hbt.submit_buy_order(0, orders, d.best_ask, 100000.0 * lots, GTC, MARKET, False)
            else:
                hbt.submit_sell_order(0, orders, d.best_bid, 100000.0 * lots, GTC, MARKET, False)
        state = now
    return n, orders


def go(nq):
    ev = np.zeros(nq * 4, event_dtype)
    base = EXCH_EVENT | LOCAL_EVENT | DEPTH_EVENT
    k = build(q[:nq], ev, np.uint64(base | BUY_EVENT), np.uint64(base | SELL_EVENT))
    ev = ev[:k]
    asset = (BacktestAsset().data(ev).linear_asset(1.0).constant_order_latency(100_000, 100_000)
             .power_prob_queue_model(2.0).no_partial_fill_exchange().trading_value_fee_model(0.0, 0.0)
             .tick_size(0.00001).lot_size(1.0))
    hbt = HashMapMarketDepthBacktest([asset])
    t, c = time.perf_counter(), time.process_time()
    steps, orders = cross(hbt, fast, slow)
    t, c = time.perf_counter() - t, time.process_time() - c
    pos = hbt.position(0)
    hbt.close()
    return k, steps, orders, pos, t, c


go(2000)  # numba compilation
k, steps, orders, pos, t, c = go(len(q))
print(json.dumps(dict(engine=f"hftbacktest-py-{hb.__version__}", kind="quotes", fast=fast, slow=slow, quotes=len(q), feed_events=k,
                      steps=steps, orders=orders, end_pos=pos, run_s=round(t, 3), cpu_s=round(c, 3), quotes_per_cpu_s=round(len(q) / c),
                      feed_events_per_cpu_s=round(k / c), feed_events_per_s=round(k / t),
                      peak_rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)))
