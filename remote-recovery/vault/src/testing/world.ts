import type { DeviceAccount, ShownImage, VaultState } from "@relicario/shared/contract";

import { openDevice, type Device } from "../device/device.ts";
import { showPicture, type ProtectRequest, type ShownPicture } from "../shown-image.ts";
import { openVaultContext, type VaultContext, type WriterLocks } from "../vault-context.ts";
import { serviceOn } from "../service.ts";
import { createFakeEngine, fakePicture } from "./fake-engine.ts";
import { createFakeService, type FakeService } from "./fake-service.ts";
import type { FakeSharing } from "./fake-shares.ts";

export const userId = "019a9e2c-7c1e-7abc-8def-0123456789ab";

/** A service, and devices that sign in to it as one person. */
export interface World {
  readonly service: FakeService;
  readonly engine: ReturnType<typeof createFakeEngine>;
  /** A page of the device with this name: what the device kept before is there again. */
  readonly open: (deviceName?: string) => Promise<VaultContext & { readonly states: VaultState[] }>;
  readonly deviceNamed: (name?: string) => Promise<Device>;
  /** Web Locks between the pages of each device, with the names that were asked for. */
  readonly locks: FakeLocks;
}

/** Exclusive locks by name, as browsers have them between tabs. */
export interface FakeLocks {
  readonly names: Set<string>;
  readonly request: WriterLocks["request"];
}

function createFakeLocks(): FakeLocks {
  const names = new Set<string>();
  const tails = new Map<string, Promise<unknown>>();
  return {
    names,
    request: (name, work) => {
      names.add(name);
      const turn = Promise.resolve(tails.get(name)).then(work);
      tails.set(
        name,
        turn.catch(() => null),
      );
      return turn;
    },
  };
}

let worlds = 0;

/** @param person who it is; `sharing` is what several people share with each other */
export function createWorld({
  userId: id = userId,
  userName = "ada",
  sharing = null,
}: { readonly userId?: string; readonly userName?: string; readonly sharing?: FakeSharing | null } = {}): World {
  const service = createFakeService(id);
  if (sharing !== null) {
    const me = { userId: id, userName, account: () => service.account };
    sharing.people.set(userName.toLowerCase(), me);
    service.sharing = { between: sharing, me };
  }
  const engine = createFakeEngine();
  worlds++;
  const locks = createFakeLocks();
  const subject = `person ${String(worlds)}`;
  const accountOn = (device: string): DeviceAccount => ({
    vendorId: `relicario on ${device}`,
    issuer: "https://id.example",
    subject,
  });
  return {
    service,
    engine,
    locks,
    deviceNamed: (name = "laptop") => openDevice(accountOn(name)),
    open: async (name = "laptop") => {
      const states: VaultState[] = [];
      const vault = await openVaultContext({
        userId: id,
        service: serviceOn(service.httpOf(name)),
        engine,
        device: await openDevice(accountOn(name)),
        tell: (state) => states.push(state),
        pause: () => Promise.resolve(),
        locks,
      });
      return Object.assign(vault, { states });
    },
  };
}

/** A picture as the acts take it. */
export function shown(picture: string, passphrase: string | null = null): ShownPicture {
  return { picture: fakePicture(picture), passphrase };
}

/** The same as the page's vault takes it. */
export function shownHandle(picture: string, passphrase: string | null = null): ShownImage {
  return showPicture(shown(picture, passphrase));
}

type Protected<Shown> =
  | { readonly kind: "picture"; readonly shown: Shown; readonly name: string }
  | { readonly kind: "openers"; readonly openers: readonly string[] };

/** A request with a picture, or with the openers of the book. */
export function textSecret<Shown = never>(
  title: string,
  picture?: Shown,
  content = `content of ${title}`,
): Omit<ProtectRequest, "protection"> & { readonly protection: Protected<Shown> } {
  return {
    title,
    tags: ["paper"],
    contentKind: "text",
    name: "secret.txt",
    mime: "text/plain",
    content: new Blob([content]),
    protection:
      picture === undefined
        ? { kind: "openers", openers: [] }
        : { kind: "picture", shown: picture, name: "The market" },
  };
}
