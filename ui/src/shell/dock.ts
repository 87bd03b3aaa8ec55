/** Dock: widgets in panels that can be moved, resized, stacked and closed; each page keeps its last layout. */

import {
  createDockview,
  type DockviewApi,
  type IContentRenderer,
  type IDockviewPanel,
  type IHeaderActionsRenderer,
  type ITabRenderer,
  type SerializedDockview,
} from 'dockview';
import { type Component, mount, unmount } from 'svelte';
import { REGROUPED, STACK_TOOLS } from '../parts/stack';
import type { Clock, Stop, UserMemory } from '../state/api';
import type { Texts } from '../texts';
import { type Form, formOf, layoutOf, type Page, type Placement, sizeOf } from './layouts';
import { isWidget, WIDGETS, type WidgetId } from './widgets';

/** A layout is stored after this time without a further change, in milliseconds. */
const REMEMBER_AFTER_MS = 400;
const RETRY_AFTER_MS = 2_000;
/** A resized window is followed after this time without a further change, in milliseconds. */
const FOLLOW_AFTER_MS = 150;

export interface DockTools {
  element: HTMLElement;
  /** Svelte context of the widgets. */
  context: Map<unknown, unknown>;
  /** Memory of the current user. */
  memory: Pick<UserMemory, 'read' | 'write' | 'beforeFlush'>;
  clock: Clock;
  /** Which widgets the role may see. */
  maySee(widget: WidgetId): boolean;
  onOpenChange(open: readonly WidgetId[]): void;
}

export class Dock {
  private readonly api: DockviewApi;
  private page: Page = 'trade';
  private texts: Texts | null = null;
  private isArranging = false;
  private stopRemembering: Stop = () => undefined;
  /** Changed, and not stored yet. */
  private isDirty = false;
  private readonly stopFlushing: Stop;
  private stopFollowing: Stop = () => undefined;
  private readonly window: ResizeObserver;
  /** Form of the current layout. */
  private form: Form;

  constructor(private readonly tools: DockTools) {
    this.api = createDockview(tools.element, {
      createComponent: ({ name }) => new WidgetPanel(name, tools.context),
      createTabComponent: () => new WidgetTab(),
      defaultTabComponent: 'tab',
      createRightHeaderActionComponent: () => new StackTools(),
      theme: { name: 'rialto', className: 'rialto-dock', gap: 3, dndPanelOverlay: 'group' },
      disableFloatingGroups: true,
    });
    this.stopFlushing = tools.memory.beforeFlush(() => this.settle());
    this.form = this.fittingForm();
    this.window = new ResizeObserver(() => this.follow());
    this.window.observe(tools.element);
    this.api.onDidLayoutChange(() => this.changed());
    tools.element.addEventListener('keydown', (event) => this.closeByKey(event));
  }

  show(page: Page): void {
    this.settle();
    this.page = page;
    this.form = this.fittingForm();
    this.arrange(() => this.restore() || this.build());
  }

  /** Restores the default layout of this page. */
  reset(): void {
    this.arrange(() => this.build());
    this.remember();
  }

  /** Shows a widget in front, and opens it again where it was closed. */
  open(widget: WidgetId): void {
    const panel = this.api.getPanel(widget);
    if (panel) panel.api.setActive();
    else if (this.tools.maySee(widget)) this.add({ widget }).api.setActive();
  }

  close(widget: WidgetId): void {
    this.api.getPanel(widget)?.api.close();
  }

  /** Puts the focus on the tab in front of the next panel, from where Tab leads into it. */
  focusNext(step: 1 | -1): void {
    const tabs = [...this.tools.element.querySelectorAll<HTMLElement>('.dv-tab.dv-active-tab')];
    const here = tabs.findIndex((tab) => tab.closest('.dv-groupview')?.contains(document.activeElement));
    const start = here < 0 && step < 0 ? 0 : here;
    tabs[(start + step + tabs.length) % tabs.length]?.focus();
  }

  private closeByKey(event: KeyboardEvent): void {
    const tab = event.target instanceof HTMLElement && event.target.role === 'tab' ? event.target : null;
    const id = tab?.dataset['tabPanelId'] ?? '';
    if (event.key === 'Delete' && isWidget(id)) this.close(id);
  }

  title(texts: Texts): void {
    this.texts = texts;
    for (const panel of this.api.panels) panel.api.setTitle(this.titleOf(panel.id));
  }

  dispose(): void {
    this.window.disconnect();
    this.stopFollowing();
    this.stopFlushing();
    this.stopRemembering();
    this.api.dispose();
  }

  private arrange(work: () => void): void {
    this.stopRemembering();
    this.isDirty = false;
    this.isArranging = true;
    work();
    this.isArranging = false;
    this.tools.onOpenChange(this.openWidgets());
  }

  private build(): void {
    this.api.clear();
    const places = layoutOf(this.page, this.form).filter(({ widget }) => this.tools.maySee(widget));
    for (const place of places) this.add(place);
    for (const place of places) this.size(place);
    for (const panel of this.firsts(places)) panel.api.setActive();
  }

  /** A stored layout of another version, or with widgets that the role may not see, is not used. */
  private restore(): boolean {
    const layout = this.tools.memory.read(this.key()) as SerializedDockview | null;
    const known = (id: string) => isWidget(id) && this.tools.maySee(id);
    if (!layout || !Object.keys(layout.panels ?? {}).every(known)) return false;
    try {
      this.api.fromJSON(layout);
      if (this.texts) this.title(this.texts);
      return true;
    } catch {
      return false;
    }
  }

  private add({ widget, beside, direction }: Placement): IDockviewPanel {
    const options = { id: widget, component: widget, title: this.titleOf(widget) };
    const reference = beside && this.api.getPanel(beside);
    if (reference) return this.api.addPanel({ ...options, position: { referencePanel: reference, direction } });
    return this.api.addPanel(options);
  }

  /** Sizes are set after all panels are added, because each added panel takes room from its neighbours. */
  private size(place: Placement): void {
    const { clientWidth: width, clientHeight: height } = this.tools.element;
    this.api.getPanel(place.widget)?.group.api.setSize(sizeOf(place, { width, height }));
  }

  /** The first tab of each stack is the one in front. */
  private firsts(places: readonly Placement[]): IDockviewPanel[] {
    const first = places.filter((place) => place.direction !== 'within').reverse();
    return first.flatMap(({ widget }) => this.api.getPanel(widget) ?? []);
  }

  private changed(): void {
    if (this.isArranging || this.fittingForm() !== this.form) return;
    this.tools.onOpenChange(this.openWidgets());
    this.isDirty = true;
    this.stopRemembering();
    this.stopRemembering = this.tools.clock.after(REMEMBER_AFTER_MS, () => this.remember());
  }

  /** A layout that is squeezed by the window is not the user's arrangement, and is not stored. */
  private settle(): void {
    if (this.isDirty && this.fittingForm() === this.form) this.remember();
  }

  private remember(): void {
    this.stopRemembering();
    this.isDirty = false;
    this.tools.memory.write(this.key(), this.api.toJSON());
  }

  private openWidgets(): WidgetId[] {
    return this.api.panels.map((panel) => panel.id).filter(isWidget);
  }

  private fittingForm(): Form {
    return formOf(this.tools.element.clientWidth, this.tools.element.clientHeight);
  }

  /** A narrowed window, or a turned tablet, gets the layout of its new form. */
  private follow(): void {
    this.stopFollowing();
    if (this.fittingForm() === this.form || this.tools.element.clientWidth === 0) return;
    this.stopFollowing = this.tools.clock.after(FOLLOW_AFTER_MS, () => this.show(this.page));
  }

  /** A layout of a large screen is not used on a small one. */
  private key(): string {
    return `layout.${this.page}.${this.form}`;
  }

  private titleOf(id: string): string {
    return this.texts && isWidget(id) ? this.texts.widgets[id] : id;
  }
}

/** A widget is mounted while it is visible; behind another tab it is unmounted, so that the server sends no unused prices. */
class WidgetPanel implements IContentRenderer {
  readonly element = document.createElement('div');
  private instance: Record<string, unknown> | null = null;
  private isWanted = false;

  constructor(
    private readonly name: string,
    private readonly context: Map<unknown, unknown>,
  ) {
    this.element.className = 'widget';
    this.element.dataset['widget'] = name;
  }

  init({ api }: Parameters<IContentRenderer['init']>[0]): void {
    api.onDidVisibilityChange(({ isVisible }) => this.see(isVisible));
    api.onDidGroupChange(() => queueMicrotask(() => this.element.dispatchEvent(new CustomEvent(REGROUPED))));
    this.see(api.isVisible);
  }

  dispose(): void {
    this.rest();
  }

  private see(isVisible: boolean): void {
    if (isVisible) void this.wake();
    else if (isWidget(this.name) && !WIDGETS[this.name].isKept) this.rest();
  }

  private async wake(): Promise<void> {
    if (this.isWanted || !isWidget(this.name)) return;
    this.isWanted = true;
    const component = await this.load(this.name);
    if (component && !this.instance) this.instance = mount(component, { target: this.element, context: this.context });
  }

  /** The code of a widget cannot be loaded while the server cannot be reached; loading is retried until the widget is hidden or closed. */
  private async load(name: WidgetId): Promise<Component | null> {
    while (this.isWanted) {
      const loaded = await WIDGETS[name].load().catch(() => null);
      if (loaded) return this.isWanted ? loaded.default : null;
      await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
    }
    return null;
  }

  private rest(): void {
    this.isWanted = false;
    if (this.instance) void unmount(this.instance);
    this.instance = null;
  }
}

/** Toolbar beside the tabs, for controls of the widget in front. */
class StackTools implements IHeaderActionsRenderer {
  readonly element = document.createElement('div');

  constructor() {
    this.element.className = STACK_TOOLS;
  }

  init(): void {}

  dispose(): void {
    this.element.remove();
  }
}

/** A tab is one control, so its close sign is for the mouse only; the keyboard has Delete, and the menu. */
class WidgetTab implements ITabRenderer {
  readonly element = document.createElement('div');
  private readonly title = document.createElement('span');

  constructor() {
    this.element.className = 'widget-tab';
    this.element.append(this.title);
  }

  init({ api, title }: Parameters<ITabRenderer['init']>[0]): void {
    this.title.textContent = title;
    api.onDidTitleChange((change) => (this.title.textContent = change.title));
    const sign = document.createElement('span');
    sign.className = 'close';
    sign.ariaHidden = 'true';
    sign.textContent = '✕';
    // The press belongs to the sign, or the tab would be dragged.
    sign.addEventListener('pointerdown', (event) => event.preventDefault());
    sign.addEventListener('click', () => api.close());
    this.element.append(sign);
  }
}
