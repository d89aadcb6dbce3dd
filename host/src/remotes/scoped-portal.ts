import type { Capability, HttpClient, Portal, RemoteManifest } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { createScopedHttpClient } from "./scoped-http.ts";

/**
 * The portal as one remote sees it: frozen, with the capabilities that its signed release declares.
 * Language, theme, features, vendor, reports and locking are always allowed; without `drives` there
 * is none; anything else that was not declared is `forbidden`.
 */
export function createScopedPortal(
  portal: Portal,
  manifest: Pick<RemoteManifest, "name" | "capabilities" | "api_paths">,
): Portal {
  const hasCapability = (capability: Capability) => manifest.capabilities.includes(capability);
  let forbiddenPromise: Promise<never> | null = null;
  return Object.freeze<Portal>({
    http: hasCapability("http") ? createScopedHttpClient(portal.http, manifest.api_paths) : forbiddenHttp,
    // Getters: reading `portal.vault` or `portal.visitor` loads the recovery remote, which must not
    // happen before it is used.
    get vault() {
      return hasCapability("vault") ? portal.vault : (forbiddenPromise ??= rejectForbidden());
    },
    get visitor() {
      return hasCapability("visitor") ? portal.visitor : (forbiddenPromise ??= rejectForbidden());
    },
    get user() {
      return hasCapability("user") ? portal.user : throwForbidden();
    },
    vendor: portal.vendor,
    features: portal.features,
    drives: hasCapability("drives") ? portal.drives : emptyDrives,
    language: portal.language,
    theme: portal.theme,
    appVersion: portal.appVersion,
    setLanguage: hasCapability("preferences") ? portal.setLanguage : throwForbidden,
    setTheme: hasCapability("preferences") ? portal.setTheme : throwForbidden,
    navigate: hasCapability("navigate") ? portal.navigate : throwForbidden,
    confirm: hasCapability("confirm") ? portal.confirm : throwForbidden,
    notify: hasCapability("notify") ? portal.notify : throwForbidden,
    signInAgain: hasCapability("sign_in") ? portal.signInAgain : forbiddenSignIn,
    report: (report) => {
      portal.report({ ...report, remote: manifest.name }); // a remote cannot report in the name of another
    },
    onLock: portal.onLock,
  });
}

const emptyDrives: Portal["drives"] = Object.freeze({});

const forbiddenHttp: HttpClient = Object.freeze({
  request: () => Promise.reject(new PortalError("forbidden")),
  stream: () => Promise.reject(new PortalError("forbidden")),
});

const forbiddenSignIn: Portal["signInAgain"] = () => Promise.reject(new PortalError("forbidden"));

function rejectForbidden(): Promise<never> {
  const promise = Promise.reject(new PortalError("forbidden"));
  promise.catch(() => undefined); // no unhandled rejection when the remote does not use it
  return promise;
}

function throwForbidden(): never {
  throw new PortalError("forbidden");
}
