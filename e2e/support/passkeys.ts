import type { CDPSession, Page } from "@playwright/test";

export interface Passkeys {
  readonly count: () => Promise<number>;
  /** Returns how often a passkey was used. */
  readonly countUses: () => number;
  readonly deleteAll: () => Promise<void>;
}

/** Adds a passkey provider of the device itself, by default with PRF. */
export async function addVirtualPasskeys(
  page: Page,
  { prf = true }: { readonly prf?: boolean } = {},
): Promise<Passkeys> {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      ctap2Version: "ctap2_1",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      hasPrf: prf,
    },
  });
  let useCount = 0;
  cdp.on("WebAuthn.credentialAsserted", () => useCount++);
  return {
    countUses: () => useCount,
    count: async () => (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials.length,
    deleteAll: async () => {
      await cdp.send("WebAuthn.clearCredentials", { authenticatorId });
    },
  };
}
