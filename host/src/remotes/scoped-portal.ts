import type { Capability, Http, Portal, RemoteManifest } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { scopedHttp } from "./scoped-http.ts";

/**
 * The portal as one remote sees it: frozen, with the capabilities that its signed release declares.
 * Language, theme, features, vendor, reports and locking are always allowed; without `drives` there
 * is none; anything else that was not declared is `forbidden`.
 */
export function scopedPortal(
  portal: Portal,
  manifest: Pick<RemoteManifest, "name" | "capabilities" | "api_paths">,
): Portal {
  const has = (capability: Capability) => manifest.capabilities.includes(capability);
  let refused: Promise<never> | null = null;
  return Object.freeze<Portal>({
    http: has("http") ? scopedHttp(portal.http, manifest.api_paths) : noHttp,
    // Getters: reading `portal.vault` or `portal.visitor` loads the recovery remote, which must not
    // happen before it is used.
    get vault() {
      return has("vault") ? portal.vault : (refused ??= forbiddenService());
    },
    get visitor() {
      return has("visitor") ? portal.visitor : (refused ??= forbiddenService());
    },
    get user() {
      return has("user") ? portal.user : forbidden();
    },
    vendor: portal.vendor,
    features: portal.features,
    drives: has("drives") ? portal.drives : noDrives,
    language: portal.language,
    theme: portal.theme,
    appVersion: portal.appVersion,
    setLanguage: has("preferences") ? portal.setLanguage : forbidden,
    setTheme: has("preferences") ? portal.setTheme : forbidden,
    navigate: has("navigate") ? portal.navigate : forbidden,
    confirm: has("confirm") ? portal.confirm : forbidden,
    notify: has("notify") ? portal.notify : forbidden,
    signInAgain: has("sign_in") ? portal.signInAgain : noSignIn,
    report: (report) => {
      portal.report({ ...report, remote: manifest.name }); // a remote cannot report in the name of another
    },
    onLock: portal.onLock,
  });
}

const noDrives: Portal["drives"] = Object.freeze({});

const noHttp: Http = Object.freeze({
  request: () => Promise.reject(new PortalError("forbidden")),
  stream: () => Promise.reject(new PortalError("forbidden")),
});

const noSignIn: Portal["signInAgain"] = () => Promise.reject(new PortalError("forbidden"));

function forbiddenService(): Promise<never> {
  const service = Promise.reject(new PortalError("forbidden"));
  service.catch(() => undefined); // no unhandled rejection when the remote does not use it
  return service;
}

function forbidden(): never {
  throw new PortalError("forbidden");
}
