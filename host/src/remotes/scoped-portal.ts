import type { Capability, Http, Portal, RemoteManifest } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { createScopedHttp } from "./scoped-http.ts";

/**
 * The portal as one remote sees it: frozen, with the capabilities that its signed release declares.
 * Language, theme, features, vendor, reports and locking are always allowed; without `drives` there
 * is none; anything else that was not declared is `forbidden`.
 */
export function createScopedPortal(
  portal: Portal,
  manifest: Pick<RemoteManifest, "name" | "capabilities" | "api_paths">,
): Portal {
  const has = (capability: Capability) => manifest.capabilities.includes(capability);
  let forbiddenPromise: Promise<never> | null = null;
  return Object.freeze<Portal>({
    http: has("http") ? createScopedHttp(portal.http, manifest.api_paths) : forbiddenHttp,
    // Getters: reading `portal.vault` or `portal.visitor` loads the recovery remote, which must not
    // happen before it is used.
    get vault() {
      return has("vault") ? portal.vault : (forbiddenPromise ??= rejectForbidden());
    },
    get visitor() {
      return has("visitor") ? portal.visitor : (forbiddenPromise ??= rejectForbidden());
    },
    get user() {
      return has("user") ? portal.user : throwForbidden();
    },
    vendor: portal.vendor,
    features: portal.features,
    drives: has("drives") ? portal.drives : emptyDrives,
    language: portal.language,
    theme: portal.theme,
    appVersion: portal.appVersion,
    setLanguage: has("preferences") ? portal.setLanguage : throwForbidden,
    setTheme: has("preferences") ? portal.setTheme : throwForbidden,
    navigate: has("navigate") ? portal.navigate : throwForbidden,
    confirm: has("confirm") ? portal.confirm : throwForbidden,
    notify: has("notify") ? portal.notify : throwForbidden,
    signInAgain: has("sign_in") ? portal.signInAgain : forbiddenSignIn,
    report: (report) => {
      portal.report({ ...report, remote: manifest.name }); // a remote cannot report in the name of another
    },
    onLock: portal.onLock,
  });
}

const emptyDrives: Portal["drives"] = Object.freeze({});

const forbiddenHttp: Http = Object.freeze({
  request: () => Promise.reject(new PortalError("forbidden")),
  stream: () => Promise.reject(new PortalError("forbidden")),
});

const forbiddenSignIn: Portal["signInAgain"] = () => Promise.reject(new PortalError("forbidden"));

function rejectForbidden(): Promise<never> {
  const service = Promise.reject(new PortalError("forbidden"));
  service.catch(() => undefined); // no unhandled rejection when the remote does not use it
  return service;
}

function throwForbidden(): never {
  throw new PortalError("forbidden");
}
