/** Adapter of the chart library. It draws on canvases in the colours of the screen's tokens. */

import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  LineStyle,
  TickMarkType,
  type AutoscaleInfo,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  type MouseEventParams,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import type { Formats } from '../../texts/formats';
import type { Bar } from '../../wire/types';
import { widened, type PriceRange } from './scale';
import { candleOf, volumeOf, type Candle, type FillMark, type OrderLine, type Redraw, type VolumeBar } from './series';

/** The upper edge belongs to the legend, the lower part to the volume. */
const PRICES_START = 0.1;
const PRICES_END = 0.22;
const VOLUME_STARTS = 0.84;
const SPACE_RIGHT = 8;

export interface PlotLook {
  digits: number;
  formats: Formats;
  describe: (line: OrderLine) => string;
}

export class Plot {
  private readonly chart: IChartApi;
  private readonly candles: ISeriesApi<'Candlestick'>;
  private readonly volumes: ISeriesApi<'Histogram'>;
  private readonly marks: ISeriesMarkersPluginApi<Time>;
  private lines: IPriceLine[] = [];
  private colours = readColours();

  /** `onPan` says whether the newest bar is out of sight. */
  constructor(host: HTMLElement, onPoint: (time: number | null) => void, onPan: (isPanned: boolean) => void) {
    this.chart = createChart(host, {
      autoSize: true,
      layout: { attributionLogo: false },
      rightPriceScale: { scaleMargins: { top: PRICES_START, bottom: PRICES_END }, entireTextOnly: true },
      timeScale: { timeVisible: true, secondsVisible: true, rightOffset: SPACE_RIGHT },
    });
    this.candles = this.chart.addSeries(CandlestickSeries, {
      autoscaleInfoProvider: (original: () => AutoscaleInfo | null) => this.scaled(original()),
    });
    this.volumes = this.chart.addSeries(HistogramSeries, { priceScaleId: '', priceFormat: { type: 'volume' } });
    this.volumes.priceScale().applyOptions({ scaleMargins: { top: VOLUME_STARTS, bottom: 0 } });
    this.volumes.applyOptions({ lastValueVisible: false, priceLineVisible: false });
    this.marks = createSeriesMarkers(this.candles, []);
    this.chart.subscribeCrosshairMove((event) => onPoint(pointedTime(event)));
    this.chart.timeScale().subscribeVisibleLogicalRangeChange(() => onPan(this.chart.timeScale().scrollPosition() < 0));
    this.recolour();
  }

  close(): void {
    this.chart.remove();
  }

  look({ digits, formats }: PlotLook): void {
    const price = (value: number): string => formats.price(value, digits);
    this.candles.applyOptions({ priceFormat: { type: 'custom', minMove: 10 ** -digits, formatter: price } });
    this.chart.applyOptions({
      localization: { timeFormatter: (time: Time) => formats.dateTime(Number(time) * 1000) },
      timeScale: { tickMarkFormatter: (time: Time, type: TickMarkType) => tickMark(Number(time), type, formats) },
    });
  }

  draw(redraw: Redraw): void {
    if ('all' in redraw) {
      this.candles.setData(redraw.all.map((bar) => this.candle(bar)));
      this.volumes.setData(redraw.all.map((bar) => this.volume(bar)));
      return;
    }
    for (const bar of redraw.last) {
      this.candles.update(this.candle(bar));
      this.volumes.update(this.volume(bar));
    }
  }

  /** Scrolls to the newest bar, with prices in full height. */
  showNewest(): void {
    this.candles.priceScale().setAutoScale(true);
    this.chart.timeScale().resetTimeScale();
  }

  orders(lines: readonly OrderLine[], { describe }: PlotLook): void {
    for (const line of this.lines) this.candles.removePriceLine(line);
    this.lines = lines.map((line) =>
      this.candles.createPriceLine({
        price: line.price,
        title: describe(line),
        color: line.side === 'BUY' ? this.colours.up : this.colours.down,
        lineStyle: line.isStop ? LineStyle.Dotted : LineStyle.Dashed,
        lineWidth: 1,
        axisLabelVisible: true,
      }),
    );
  }

  /** The prices between the edges; none while there is nothing to show. */
  sight(): PriceRange | null {
    return this.candles.priceScale().getVisibleRange();
  }

  /** Without labels, which would overlap: the legend shows the fills of the bar under the pointer. */
  fills(marks: readonly FillMark[]): void {
    this.marks.setMarkers(
      marks.map(({ time, side }) => ({
        time: time as UTCTimestamp,
        position: side === 'BUY' ? 'belowBar' : 'aboveBar',
        shape: side === 'BUY' ? 'arrowUp' : 'arrowDown',
        color: side === 'BUY' ? this.colours.up : this.colours.down,
      })),
    );
  }

  recolour(): void {
    const { up, down, text, line, surface, label, font } = (this.colours = readColours());
    this.chart.applyOptions({
      layout: { background: { color: surface }, textColor: text, fontFamily: font, fontSize: 11 },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
      rightPriceScale: { borderColor: line },
      timeScale: { borderColor: line },
      crosshair: { vertLine: { labelBackgroundColor: label }, horzLine: { labelBackgroundColor: label } },
    });
    this.candles.applyOptions({ upColor: up, wickUpColor: up, downColor: down, wickDownColor: down, borderVisible: false });
  }

  private scaled(info: AutoscaleInfo | null): AutoscaleInfo | null {
    if (info?.priceRange == null) return info;
    const { minValue: from, maxValue: to } = info.priceRange;
    const range = widened({ from, to }, this.lines.map((line) => line.options().price));
    return { ...info, priceRange: { minValue: range.from, maxValue: range.to } };
  }

  private candle(bar: Bar): Candle & { time: UTCTimestamp } {
    return candleOf(bar) as Candle & { time: UTCTimestamp };
  }

  private volume(bar: Bar): VolumeBar & { time: UTCTimestamp; color: string } {
    const volume = volumeOf(bar) as VolumeBar & { time: UTCTimestamp };
    return { ...volume, color: `${volume.isUp ? this.colours.up : this.colours.down}55` };
  }
}

function pointedTime({ time }: MouseEventParams<Time>): number | null {
  return time === undefined ? null : Number(time);
}

function tickMark(time: number, type: TickMarkType, formats: Formats): string {
  const at = time * 1000;
  if (type === TickMarkType.TimeWithSeconds) return formats.time(at);
  return type === TickMarkType.Time ? formats.timeShort(at) : formats.date(at);
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(name).trim();
  return {
    up: token('--up'),
    down: token('--down'),
    text: token('--text-2'),
    line: token('--surface-3'),
    surface: token('--surface'),
    label: token('--accent-strong'),
    font: token('--font'),
  };
}
