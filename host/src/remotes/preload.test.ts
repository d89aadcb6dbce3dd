import type { RemoteName } from "@relicario/shared/contract";

import type { VerifiedRemote } from "../deployment/verify.ts";
import { preloadArea } from "./preload.ts";

const origin = "https://portal.example";
const hash = (letter: string): string => `sha384-${letter.repeat(64)}`;

function verified(name: RemoteName, paths: readonly string[], files: Readonly<Record<string, string>>, capabilities: readonly string[] = []): [RemoteName, VerifiedRemote] {
  const federation = { exposes: [{ assets: { js: { sync: ["remote.js"], async: ["12.js"] } } }] };
  return [name, { status: "verified", record: { release: `${name}-1.0.0-0123456789ab`, files, federation, manifest: { name, capabilities, routes: paths.map((path) => ({ path })) } } } as unknown as VerifiedRemote];
}

const remotes = new Map<RemoteName, VerifiedRemote>([
  verified("secrets", ["/home", "/edit-secret/:secretId"], { "remoteEntry.js": hash("e"), "remote.js": hash("r"), "12.js": hash("c") }, ["vault"]),
  verified("sharing", ["/recived"], { "remoteEntry.js": hash("s") }),
  verified("recovery", ["/openers"], { "remoteEntry.js": hash("v") }, ["vault"]),
  ["settings", { status: "refused", code: "remote_refused", manifest: null }],
]);

const linksOf = (page: Document): readonly HTMLLinkElement[] => [...page.head.querySelectorAll("link")];

/** What is asked for at once, and what when that has come or failed. */
async function asked(pathname: string, arrival: "load" | "error" = "load"): Promise<{ first: readonly string[]; then: readonly string[] }> {
  const page = document.implementation.createHTMLDocument();
  const named = ({ rel, as, href, integrity, crossOrigin }: HTMLLinkElement): string => [rel, as, href.replace(origin, ""), integrity.slice(0, 8), crossOrigin].join(" ");
  const done = preloadArea({ remotes }, { origin, pathname }, page);
  const first = linksOf(page);
  for (const link of first) link.dispatchEvent(new Event(arrival));
  await new Promise((later) => setTimeout(later));
  const then = linksOf(page).slice(first.length);
  for (const link of then) link.dispatchEvent(new Event(arrival));
  await done;
  return { first: first.map(named), then: then.map(named) };
}

const ofSecrets = ["preload script /r/secrets/secrets-1.0.0-0123456789ab/remoteEntry.js sha384-e anonymous", "preload script /r/secrets/secrets-1.0.0-0123456789ab/remote.js sha384-r anonymous"];
const ofVault = ["preload script /r/recovery/recovery-1.0.0-0123456789ab/remoteEntry.js sha384-v anonymous"];

describe("preloadArea", () => {
  it.each(["/", "/home", "/edit-secret/3"])("asks for the first scripts of the area of %s with their signed hashes, then for those of the vault that it uses", async (pathname) => {
    expect(await asked(pathname)).toEqual({ first: ofSecrets, then: ofVault });
  });

  it("goes on to the vault when a script of the area does not come", async () => {
    expect((await asked("/home", "error")).then).toEqual(ofVault);
  });

  it("asks for no file that the record does not list, and for none of another area", async () => {
    expect(await asked("/recived")).toEqual({ first: ["preload script /r/sharing/sharing-1.0.0-0123456789ab/remoteEntry.js sha384-s anonymous"], then: [] });
    expect(await asked("/openers")).toEqual({ first: ofVault, then: [] });
    for (const pathname of ["/settings/profile", "/help"]) expect(await asked(pathname)).toEqual({ first: [], then: [] });
  });
});
