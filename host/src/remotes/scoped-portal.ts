import type { Capability, HttpClient, Portal, RemoteManifest } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { createScopedHttpClient } from "./scoped-http-client.ts";

/**
 * Creates the portal of one remote. It is frozen, and has the capabilities that the remote's signed
 * release declares.
 *
 * Language, theme, features, vendor, reports and locking are always available. `drives` is empty
 * when undeclared. Any other undeclared capability fails with `forbidden`.
 */
export function createScopedPortal(
  portal: Portal,
  manifest: Pick<RemoteManifest, "name" | "capabilities" | "api_paths">,
): Portal {
  const hasCapability = (capability: Capability) => manifest.capabilities.includes(capability);
  let forbiddenPromise: Promise<never> | null = null;
  return Object.freeze<Portal>({
    http: hasCapability("http") ? createScopedHttpClient(portal.http, manifest.api_paths) : forbiddenHttp,
    // Getters, because reading `portal.vault` or `portal.visitor` loads the recovery remote. That
    // must wait until the remote first uses them.
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
      portal.report({ ...report, remote: manifest.name }); // a remote cannot report in another's name
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
  promise.catch(() => undefined); // avoids an unhandled rejection when the remote ignores the promise
  return promise;
}

function throwForbidden(): never {
  throw new PortalError("forbidden");
}
