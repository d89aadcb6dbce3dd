import type {
  ConfirmOptions,
  Language,
  LockReason,
  Notice,
  Portal,
  FailureReport,
  ThemeName,
  Vault,
  Visitor,
} from "../contract/index.ts";
import { createFakeHttpClient, type FakeHttpClient } from "./fake-http-client.ts";
import { createFakeVisitor } from "./fake-sharing.ts";
import { createFakeVault } from "./fake-vault.tsx";

export interface PortalRecord {
  readonly paths: string[];
  readonly notices: Notice[];
  readonly confirms: ConfirmOptions[];
  readonly reports: FailureReport[];
  readonly preferences: (Language | ThemeName)[];
  /** Listeners that are attached with `onLock`. */
  readonly lockListeners: Set<(reason: LockReason) => void | Promise<void>>;
}

export interface FakePortal {
  readonly portal: Portal;
  readonly record: PortalRecord;
}

export interface FakePortalSettings extends Partial<Omit<Portal, "vault" | "visitor" | "http">> {
  /** A vault, or a promise of one; an empty vault by default. */
  readonly vault?: Vault | Promise<Vault>;
  /** Visitor of a page opened by a link. By default its link is unavailable. */
  readonly visitor?: Visitor | Promise<Visitor>;
  readonly http?: FakeHttpClient;
  /** Result of every `confirm`; true by default. */
  readonly confirmAnswer?: boolean;
}

/** Creates a portal without host, identity provider or service. */
export function createFakePortal(settings: FakePortalSettings = {}): FakePortal {
  const { vault, visitor, http, confirmAnswer = true, ...overrides } = settings;
  const record: PortalRecord = {
    paths: [],
    notices: [],
    confirms: [],
    reports: [],
    preferences: [],
    lockListeners: new Set(),
  };
  const portal: Portal = Object.freeze({
    http: http ?? createFakeHttpClient(),
    vault: Promise.resolve(vault ?? createFakeVault()),
    visitor: Promise.resolve(visitor ?? createFakeVisitor()),
    user: { userId: "01890a5d-ac96-7000-8000-00000000a11c", userName: "alba", contactEmail: "alba@example.org" },
    vendor: { vendorId: "relicario", branding: { productName: "Relicario" }, messages: [] },
    features: {},
    drives: {},
    language: "en" as const,
    theme: "light" as const,
    appVersion: "0.3.1",
    setLanguage: (language: Language) => {
      record.preferences.push(language);
    },
    setTheme: (theme: ThemeName) => {
      record.preferences.push(theme);
    },
    navigate: (path: string) => {
      record.paths.push(path);
    },
    confirm: (request: ConfirmOptions) => {
      record.confirms.push(request);
      return Promise.resolve(confirmAnswer);
    },
    notify: (notice: Notice) => {
      record.notices.push(notice);
    },
    signInAgain: () => Promise.resolve(),
    report: (report: FailureReport) => {
      record.reports.push(report);
    },
    onLock: (listener: (reason: LockReason) => void | Promise<void>) => {
      record.lockListeners.add(listener);
      return () => {
        record.lockListeners.delete(listener);
      };
    },
    ...overrides,
  });
  return { portal, record };
}
