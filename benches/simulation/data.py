"""Deterministic synthetic market data shared by every engine in this folder.

Writes two little-endian binary files into the directory given as argv[1]:
  quotes.bin : N records of 5 x i64  = ts_ns, bid_ticks, ask_ticks, bid_qty, ask_qty
  bars.bin   : N records of 6 x i64  = ts_ns(close), open, high, low, close (ticks), volume
One tick is 0.00001.  Quotes are 1 ms apart, bars are 1 minute apart.  numpy PCG64, seed 42.
Usage: data.py OUT_DIR [N=1000000]
"""
import sys
import numpy as np

out = sys.argv[1]
n = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
T0 = 1_735_689_600_000_000_000  # 2025-01-01T00:00:00Z

rng = np.random.default_rng(42)
# quotes: mid walks by -1/0/+1 tick, spread 1..3 ticks
step = rng.integers(-1, 2, n)
mid = 100_000 + np.cumsum(step)
mid = np.maximum(mid, 10_000)
spread = rng.integers(1, 4, n)
q = np.empty((n, 5), "<i8")
q[:, 0] = T0 + np.arange(n, dtype="i8") * 1_000_000
q[:, 1] = mid
q[:, 2] = mid + spread
q[:, 3] = rng.integers(1, 100, n) * 100_000
q[:, 4] = rng.integers(1, 100, n) * 100_000
q.tofile(f"{out}/quotes.bin")

# bars: close walks with sigma 5 ticks, open = previous close
ret = np.rint(rng.normal(0, 5, n)).astype("i8")
close = np.maximum(100_000 + np.cumsum(ret), 10_000)
open_ = np.concatenate(([100_000], close[:-1]))
hi = np.maximum(open_, close) + rng.integers(0, 6, n)
lo = np.minimum(open_, close) - rng.integers(0, 6, n)
b = np.empty((n, 6), "<i8")
b[:, 0] = T0 + (np.arange(n, dtype="i8") + 1) * 60_000_000_000
b[:, 1] = open_
b[:, 2] = hi
b[:, 3] = lo
b[:, 4] = close
b[:, 5] = rng.integers(1, 1000, n) * 1_000
b.tofile(f"{out}/bars.bin")
print("quotes", q[:2].tolist(), "bars", b[:2].tolist())
