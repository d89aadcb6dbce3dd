import { identityOf, recipientOf } from "./age.ts";
import { wipe, type Bytes } from "./bytes.ts";
import { hkdf } from "./kdf.ts";

/**
 * What an opener can do while it is shown: an age identity as text, and the key of its slot's mac. It lives for one
 * action in the worker; call `forget` at its end.
 */
export interface ShownOpener {
  readonly openerId: string;
  readonly identity: string;
  readonly recipient: string;
  /** HKDF(opener seed, `relicario/v1/slot-auth`), 32 bytes. */
  readonly slotAuth: Bytes;
  readonly forget: () => void;
}

/** The opener of an image, from its root. Wipes the root. */
export async function imageOpener(openerId: string, imageRoot: Bytes): Promise<ShownOpener> {
  const seed = hkdf(imageRoot, "relicario/v1/image-identity");
  wipe(imageRoot);
  return openerFromSeed(openerId, seed);
}

/** Any opener, from its 32-byte seed. Wipes the seed. */
export async function openerFromSeed(openerId: string, seed: Bytes): Promise<ShownOpener> {
  const identity = identityOf(seed);
  const slotAuth = hkdf(seed, "relicario/v1/slot-auth");
  wipe(seed);
  return { openerId, identity, recipient: await recipientOf(identity), slotAuth, forget: () => { wipe(slotAuth); } };
}
