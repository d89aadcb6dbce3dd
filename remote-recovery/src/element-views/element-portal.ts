import type { Drives, Language, Portal, ThemeName, Visitor } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

export interface ElementPortalSettings {
  readonly language: Language;
  readonly theme: ThemeName;
  readonly userName: string;
  readonly productName: string;
  readonly drives: Drives;
  readonly onLock: (listener: () => void) => () => void;
}

/**
 * The portal as the components of an element see it: words, theme, drives and locks. An element
 * has no service, no router and no other dialogs.
 */
export function createElementPortal({
  language,
  theme,
  userName,
  productName,
  drives,
  onLock,
}: ElementPortalSettings): Portal {
  return Object.freeze<Portal>({
    http: { request: refuse, stream: refuse },
    get vault() {
      return refuse();
    },
    get visitor(): Promise<Visitor> {
      return refuse();
    },
    user: { userId: "", userName, contactEmail: null },
    vendor: { vendorId: "", branding: { productName }, messages: [] },
    features: {},
    drives,
    language,
    theme,
    appVersion: "",
    setLanguage: ignore,
    setTheme: ignore,
    navigate: ignore,
    confirm: refuse,
    notify: ignore,
    signInAgain: refuse,
    report: ignore,
    onLock: (listener) => onLock(() => void listener("lock")),
  });
}

const ignore = (): void => undefined;

function refuse(): Promise<never> {
  return Promise.reject(new PortalError("forbidden"));
}
