import type { RemoteName } from "@relicario/shared/contract";

import type { VerifiedRemote } from "../deployment/verify.ts";
import { preloadArea } from "./preload.ts";

const origin = "https://portal.example";
const hash = (letter: string): string => `sha384-${letter.repeat(64)}`;

function createRemote(
  name: RemoteName,
  paths: readonly string[],
  files: Readonly<Record<string, string>>,
): [RemoteName, VerifiedRemote] {
  const federation = { exposes: [{ assets: { js: { sync: ["remote.js"], async: ["12.js"] } } }] };
  return [
    name,
    {
      status: "verified",
      record: {
        release: `${name}-1.0.0-0123456789ab`,
        files,
        federation,
        manifest: { name, routes: paths.map((path) => ({ path })) },
      },
    } as unknown as VerifiedRemote,
  ];
}

const remotes = new Map<RemoteName, VerifiedRemote>([
  createRemote("secrets", ["/home", "/edit-secret/:secretId"], {
    "remoteEntry.js": hash("e"),
    "remote.js": hash("r"),
    "12.js": hash("c"),
  }),
  createRemote("sharing", ["/recived"], { "remoteEntry.js": hash("s") }),
  createRemote("recovery", ["/openers"], { "remoteEntry.js": hash("v") }),
  ["settings", { status: "refused", code: "remote_refused", manifest: null }],
]);

function listPreloads(pathname: string): readonly string[] {
  const page = document.implementation.createHTMLDocument();
  preloadArea({ remotes }, { origin, pathname }, page);
  return [...page.head.querySelectorAll("link")].map(({ rel, as, href, integrity, crossOrigin }) =>
    [rel, as, href.replace(origin, ""), integrity.slice(0, 8), crossOrigin].join(" "),
  );
}

const secretsPreloads = [
  "preload script /r/secrets/secrets-1.0.0-0123456789ab/remoteEntry.js sha384-e anonymous",
  "preload script /r/secrets/secrets-1.0.0-0123456789ab/remote.js sha384-r anonymous",
];

describe("preloadArea", () => {
  it.each(["/", "/home", "/edit-secret/3"])(
    "preloads the first scripts of the area at %s, with their signed hashes",
    (pathname) => {
      expect(listPreloads(pathname)).toEqual(secretsPreloads);
    },
  );

  it("preloads neither a file that the record does not list nor a file of another area", () => {
    expect(listPreloads("/recived")).toEqual([
      "preload script /r/sharing/sharing-1.0.0-0123456789ab/remoteEntry.js sha384-s anonymous",
    ]);
    expect(listPreloads("/openers")).toEqual([
      "preload script /r/recovery/recovery-1.0.0-0123456789ab/remoteEntry.js sha384-v anonymous",
    ]);
    for (const pathname of ["/settings/profile", "/help"]) expect(listPreloads(pathname)).toEqual([]);
  });
});
