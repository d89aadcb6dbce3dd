/** Browser engines that attacks are tried in, with the Debian packages that bring them. */
export const engines = {
  Chromium: "chromium",
  Firefox: "firefox-esr",
  WebKit: "webkit2gtk-driver xvfb dbus-daemon",
} as const;
export type EngineName = keyof typeof engines;

/** An element by its role and its accessible name, visible except for `file` and `choice`. */
export interface Target {
  readonly kind: "button" | "link" | "menuitem" | "field" | "file" | "choice" | "text";
  /** Source of a regular expression. */
  readonly name: string;
}

/** Crosses to the browser as JSON. */
export type PageFunction<Arguments extends readonly unknown[], Result> = (
  ...args: Arguments
) => Result | Promise<Result>;

/** One tab. Functions that run in it are passed as source, and can use nothing from outside. */
export interface EnginePage {
  readonly open: (address: string) => Promise<void>;
  readonly getUrl: () => Promise<string>;
  readonly run: <Arguments extends readonly unknown[], Result>(
    pageFunction: PageFunction<Arguments, Result>,
    ...args: Arguments
  ) => Promise<Result>;
  /** In every frame of an origin. */
  readonly runInFrames: <Arguments extends readonly unknown[], Result>(
    origin: string,
    pageFunction: PageFunction<Arguments, Result>,
    ...args: Arguments
  ) => Promise<readonly Result[]>;
  /** Waits for the target in the page or in a frame of it, and presses it as a person does. */
  readonly press: (target: Target) => Promise<void>;
  readonly type: (target: Target, text: string) => Promise<void>;
  /** Types letter by letter into whatever has the focus. */
  readonly typeOn: (text: string) => Promise<void>;
  readonly chooseFile: (target: Target, file: string) => Promise<void>;
  /** Waits for one of the targets; returns it. */
  readonly waitFor: (...targets: readonly Target[]) => Promise<Target>;
  readonly isShown: (target: Target) => Promise<boolean>;
}

export interface Engine {
  readonly name: EngineName;
  readonly page: EnginePage;
  /** Chromium alone, otherwise null. */
  readonly chromium: ChromiumTools | null;
  readonly close: () => Promise<void>;
}

export interface ChromiumTools {
  /** Adds a passkey provider of the device itself, with PRF. */
  readonly addPasskeys: () => Promise<void>;
  /** A heap snapshot of the page's process, as JSON. */
  readonly takeHeapSnapshot: () => Promise<Buffer>;
  /** The process of each frame of the page. */
  readonly listFrameProcesses: () => Promise<readonly { readonly url: string; readonly processId: number }[]>;
}

export interface EngineOptions {
  /** Origin of an HTTP proxy for all traffic, loopback included. */
  readonly proxyOrigin?: string;
}
