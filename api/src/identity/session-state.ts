import { hash, randomBytes } from "node:crypto";

/**
 * OpenID Connect Session Management 1.0, which oidc-provider lacks: the portal keeps
 * `session_state` and every two seconds asks a small hidden page of the provider whether it is
 * still valid, to notice a sign-out in another tab.
 *
 * [Note: Session check]
 * 1. With each code the provider sets a readable cookie, a digest of its session and account, and
 *    returns `session_state` = SHA-256(client, origin of the portal, cookie, salt) + "." + salt.
 * 2. The portal frames `check_session_iframe` and posts "client session_state" to it.
 * 3. The page computes the same from the current cookie and answers "unchanged", "changed" or
 *    "error".
 * 4. Sign-out removes the cookie: the answer is "changed", and the portal asks with `prompt=none`
 *    who is signed in.
 */
export const browserStateCookie = "relicario_browser_state";

/** Identifies the session without revealing its id, which is random, or its account. */
export function deriveBrowserState(session: { readonly uid: string; readonly accountId: string }): string {
  return hash("sha256", `browser state\n${session.uid}\n${session.accountId}`, "base64url");
}

export function deriveSessionState({
  clientId,
  origin,
  browserState,
}: {
  clientId: string;
  origin: string;
  browserState: string;
}): string {
  const salt = randomBytes(12).toString("base64url");
  const digest = hash("sha256", [clientId, origin, browserState, salt].join(" "), "base64url");
  return `${digest}.${salt}`;
}

export const sessionCheckScript = `"use strict";
addEventListener("message", async (event) => {
  if (typeof event.data !== "string" || event.source === null || event.source === window) return;
  const [client, state, ...rest] = event.data.split(" ");
  const salt = state?.split(".")[1];
  if (!client || !salt || rest.length > 0) return event.source.postMessage("error", event.origin);
  const cookie = document.cookie.split("; ").find((pair) => pair.startsWith("${browserStateCookie}=")) ?? "";
  const text = [client, event.origin, cookie.slice("${browserStateCookie}=".length), salt].join(" ");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const base64url = btoa(String.fromCharCode(...digest)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  event.source.postMessage(base64url + "." + salt === state ? "unchanged" : "changed", event.origin);
});`;

export const sessionCheckPage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Session check</title></head><body><script>${sessionCheckScript}</script></body></html>`;
