import type { HttpClient, VaultState } from "@relicario/shared/contract";

import { openDevice, type Device } from "../device/device.ts";
import { createService } from "../service/service.ts";
import { createFakeEngine } from "../testing/fake-engine.ts";
import { openVisitor } from "../testing/sharing-world.ts";
import { openVaultSession, type VaultSession } from "../session/vault-session.ts";
import type { VisitorContext } from "../visitor/visitor-context.ts";
import { newSubject, startRealService, type RealService } from "./real-service.ts";

/**
 * Vaults over the real service in this process: the shared client, the cheap Argon2id and pictures
 * of the fake engine.
 */
export interface ServiceWorld extends Pick<RealService, "setClockOffset" | "now"> {
  /** Signs up a person. */
  readonly signUp: () => Promise<ServicePerson>;
  /** Opens a link in a browser of its own, signed in or not. */
  readonly visit: (link: string | null, viewer?: ServicePerson) => Promise<VisitorContext>;
  /** Calls without a session. */
  readonly visitor: ObservedHttp;
  readonly stop: () => Promise<void>;
}

export interface ServicePerson {
  readonly userId: string;
  readonly userName: string;
  /**
   * Opens a page of the device with this name, which keeps what it kept. A device has one sign-in.
   */
  readonly open: (deviceName?: string, options?: { readonly locked?: boolean }) => Promise<VaultSession>;
  /** Calls of that device. */
  readonly httpOn: (deviceName?: string) => Promise<ObservedHttp>;
  /** Signs in on that device again. */
  readonly signInAgain: (deviceName: string) => Promise<void>;
}

/** Calls that a test can listen to, and lose. */
interface ObservedHttp {
  readonly http: HttpClient;
  /** `METHOD path` of each call, in order. */
  readonly calls: string[];
  /** Bodies as they are sent; forms are left out. */
  readonly bodies: unknown[];
  /** Called before each call; throwing loses it on its way there. */
  before: (call: string) => void | Promise<void>;
  /** Called after each call that succeeded; throwing loses the answer. */
  after: (call: string) => void;
}

export async function startServiceWorld(): Promise<ServiceWorld> {
  const service = await startRealService();
  return {
    setClockOffset: service.setClockOffset,
    now: service.now,
    signUp: () => signUp(service),
    visit: async (link, viewer) =>
      openVisitor(viewer === undefined ? service.visitor : (await viewer.httpOn("browser of the link")).http, link),
    visitor: observe(() => service.visitor),
    stop: () => service.testService.stop(),
  };
}

async function signUp(service: RealService): Promise<ServicePerson> {
  const subject = newSubject();
  const signIns = new Map<string, { http: HttpClient; readonly observed: ObservedHttp }>();
  const httpOn: ServicePerson["httpOn"] = async (name = "laptop") => {
    const existing = signIns.get(name);
    if (existing !== undefined) return existing.observed;
    const signIn: { http: HttpClient; readonly observed: ObservedHttp } = {
      http: await service.signIn(subject),
      observed: observe(() => signIn.http),
    };
    signIns.set(name, signIn);
    return signIn.observed;
  };
  const { user_id: userId, user_name: userName } = await createService((await httpOn()).http).shares.getMe();
  const deviceNamed = (name: string): Promise<Device> =>
    openDevice({ vendorId: `relicario on ${name}`, issuer: service.testService.issuer.issuer, subject });
  return {
    userId,
    userName,
    httpOn,
    signInAgain: async (name) => {
      const signIn = signIns.get(name);
      if (signIn !== undefined) signIn.http = await service.signIn(subject);
    },
    open: async (name = "laptop", { locked = false } = {}) => {
      const onStateChange = (_state: VaultState): void => undefined;
      return openVaultSession({
        userId,
        service: createService((await httpOn(name)).http),
        engine: createFakeEngine(),
        device: await deviceNamed(name),
        locked,
        onStateChange,
        pause: () => Promise.resolve(),
        locks: null,
      });
    },
  };
}

function observe(current: () => HttpClient): ObservedHttp {
  const recordCall = async <T>(call: string, callback: () => Promise<T>): Promise<T> => {
    observedHttp.calls.push(call);
    await observedHttp.before(call);
    const answer = await callback();
    observedHttp.after(call);
    return answer;
  };
  const observedHttp: ObservedHttp = {
    calls: [],
    bodies: [],
    before: () => undefined,
    after: () => undefined,
    http: {
      request: (method, path, schema, options = {}) => {
        if (options.body !== undefined && !(options.body instanceof FormData)) observedHttp.bodies.push(options.body);
        return recordCall(`${method} ${path}`, () => current().request(method, path, schema, options));
      },
      stream: (method, path, options) => recordCall(`${method} ${path}`, () => current().stream(method, path, options)),
    },
  };
  return observedHttp;
}
