import { toBase64url } from "@relicario/shared/api";

import { createPasskey, requestPasskey } from "./passkey.ts";

const vaultOrigin = "https://vault.portal.example.org";
const portalOrigin = "https://portal.example.org";

type ClientData = Readonly<Record<string, unknown>>;

/** Fakes the browser's credentials, which node lacks. */
class FakeCredential {
  readonly id = "passkey-1";
  readonly rawId = new ArrayBuffer(4);
  readonly response: { readonly clientDataJSON: ArrayBuffer };

  constructor(clientData: ClientData | string) {
    const text = typeof clientData === "string" ? clientData : JSON.stringify(clientData);
    this.response = { clientDataJSON: new TextEncoder().encode(text).buffer };
  }
  getClientExtensionResults() {
    return { prf: { enabled: true, results: { first: new Uint8Array(32).fill(7).buffer } } };
  }
}

interface CeremonyOptions {
  readonly publicKey: {
    readonly challenge: Uint8Array;
    readonly rpId?: string;
    readonly rp?: { readonly id?: string };
  };
}

const ceremonies: CeremonyOptions[] = [];
const discarded: unknown[] = [];

/** Answers with what a browser says, changed by `alter`. */
function mockBrowser(alter: Readonly<Record<string, (honest: ClientData) => ClientData | string>> = {}): void {
  const answer = (type: string) => (options: CeremonyOptions) => {
    ceremonies.push(options);
    const honest: ClientData = {
      type,
      challenge: toBase64url(options.publicKey.challenge),
      origin: vaultOrigin,
      crossOrigin: true,
      topOrigin: portalOrigin,
    };
    return Promise.resolve(new FakeCredential(alter[type]?.(honest) ?? honest));
  };
  const credentials = { create: answer("webauthn.create"), get: answer("webauthn.get") };
  const globals = {
    navigator: { credentials },
    location: { origin: vaultOrigin, hostname: "vault.portal.example.org" },
    PublicKeyCredential: Object.assign(FakeCredential, {
      signalUnknownCredential: (unknown: unknown) => {
        discarded.push(unknown);
        return Promise.resolve();
      },
    }),
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
}

const create = () => createPasskey({ name: "emma", productName: "Relicario", portalOrigin });
const request = () => requestPasskey({ portalOrigin });

beforeEach(() => {
  ceremonies.length = 0;
  discarded.length = 0;
});

describe("passkeys", () => {
  it("are of the vault's host, and return the output of their PRF", async () => {
    mockBrowser();
    await expect(create()).resolves.toEqual(new Uint8Array(32).fill(7));
    await expect(request()).resolves.toEqual(new Uint8Array(32).fill(7));
    expect(ceremonies.map(({ publicKey: { rp, rpId } }) => rp?.id ?? rpId)).toEqual(
      Array.from({ length: 3 }, () => "vault.portal.example.org"),
    );
  });

  const alterations: readonly (readonly [string, (honest: ClientData) => ClientData | string])[] = [
    ["another type", (honest) => ({ ...honest, type: "payment.get" })],
    ["another challenge", (honest) => ({ ...honest, challenge: toBase64url(new Uint8Array(32)) })],
    ["the portal's page as origin", (honest) => ({ ...honest, origin: portalOrigin })],
    ["no frame", (honest) => ({ ...honest, crossOrigin: false })],
    ["another page around", (honest) => ({ ...honest, topOrigin: "https://evil.example" })],
    ["no origin", ({ origin: _origin, ...honest }) => honest],
    ["no JSON", () => "{"],
  ];
  it.each(alterations)("are rejected when used, and when made, with %s", async (_case, alter) => {
    mockBrowser({ "webauthn.get": alter });
    await expect(request()).rejects.toMatchObject({ code: "passkey_rejected" });
    await expect(create()).rejects.toMatchObject({ code: "passkey_rejected" });
    expect(discarded).toEqual([{ rpId: "vault.portal.example.org", credentialId: "passkey-1" }]);
    mockBrowser({ "webauthn.create": alter });
    await expect(create()).rejects.toMatchObject({ code: "passkey_rejected" });
  });

  it("of browsers that say nothing of the page around are taken", async () => {
    const leaveOut = ({ crossOrigin: _crossOrigin, topOrigin: _topOrigin, ...honest }: ClientData) => honest;
    mockBrowser({ "webauthn.create": leaveOut, "webauthn.get": leaveOut });
    await expect(create()).resolves.toHaveLength(32);
  });
});
