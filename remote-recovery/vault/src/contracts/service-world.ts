import { estimateStrength, type HttpClient, type VaultState } from "@relicario/shared/contract";

import { openDevice, type Device } from "../device/device.ts";
import { createService } from "../service/service.ts";
import { createFakeEngine } from "../testing/fake-engine.ts";
import { openVisitor } from "../testing/sharing-world.ts";
import { openVaultSession, type VaultSession } from "../session/vault-session.ts";
import type { VisitorContext } from "../visitor/visitor-context.ts";
import { createSubject, startRealService, type RealService } from "./real-service.ts";

/**
 * Vaults that use the real service in this process, with the shared client, cheap Argon2id and the
 * fake engine.
 */
export interface ServiceWorld extends Pick<RealService, "setClockOffset" | "now"> {
  readonly signUp: () => Promise<ServicePerson>;
  /** Opens a link in another browser, signed in as `viewer` or without a session. */
  readonly visit: (link: string | null, viewer?: ServicePerson) => Promise<VisitorContext>;
  /** Calls without a session. */
  readonly visitor: ObservedHttp;
  readonly stop: () => Promise<void>;
}

export interface ServicePerson {
  readonly userId: string;
  readonly userName: string;
  /** Opens a page on the named device, which keeps its storage and has one sign-in. */
  readonly open: (deviceName?: string, options?: { readonly locked?: boolean }) => Promise<VaultSession>;
  readonly httpOn: (deviceName?: string) => Promise<ObservedHttp>;
  readonly signInAgain: (deviceName: string) => Promise<void>;
}

interface ObservedHttp {
  readonly http: HttpClient;
  /** `METHOD path` of each call, in order. */
  readonly calls: string[];
  /** Bodies as sent, except forms. */
  readonly bodies: unknown[];
  /** Called before each call. Throwing loses the request. */
  beforeCall: (call: string) => void | Promise<void>;
  /** Called after each successful call. Throwing loses the response. */
  afterCall: (call: string) => void;
}

export async function startServiceWorld(): Promise<ServiceWorld> {
  const service = await startRealService();
  return {
    setClockOffset: service.setClockOffset,
    now: service.now,
    signUp: () => signUp(service),
    visit: async (link, viewer) =>
      openVisitor(viewer === undefined ? service.visitor : (await viewer.httpOn("browser of the link")).http, link),
    visitor: observeHttp(() => service.visitor),
    stop: () => service.testService.stop(),
  };
}

async function signUp(service: RealService): Promise<ServicePerson> {
  const subject = createSubject();
  const signIns = new Map<string, { http: HttpClient; readonly observed: ObservedHttp }>();
  const httpOn: ServicePerson["httpOn"] = async (name = "laptop") => {
    const existing = signIns.get(name);
    if (existing !== undefined) return existing.observed;
    const signIn: { http: HttpClient; readonly observed: ObservedHttp } = {
      http: await service.signIn(subject),
      observed: observeHttp(() => signIn.http),
    };
    signIns.set(name, signIn);
    return signIn.observed;
  };
  const { user_id: userId, user_name: userName } = await createService((await httpOn()).http).shares.getMe();
  const openNamedDevice = (name: string): Promise<Device> =>
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
        estimateStrength,
        device: await openNamedDevice(name),
        locked,
        onStateChange,
        confirmMark: () => Promise.resolve(true),
        pause: () => Promise.resolve(),
        locks: null,
      });
    },
  };
}

function observeHttp(getHttp: () => HttpClient): ObservedHttp {
  const recordCall = async <T>(call: string, callback: () => Promise<T>): Promise<T> => {
    observedHttp.calls.push(call);
    await observedHttp.beforeCall(call);
    const response = await callback();
    observedHttp.afterCall(call);
    return response;
  };
  const observedHttp: ObservedHttp = {
    calls: [],
    bodies: [],
    beforeCall: () => undefined,
    afterCall: () => undefined,
    http: {
      request: (method, path, schema, options = {}) => {
        if (options.body !== undefined && !(options.body instanceof FormData)) observedHttp.bodies.push(options.body);
        return recordCall(`${method} ${path}`, () => getHttp().request(method, path, schema, options));
      },
      stream: (method, path, options) => recordCall(`${method} ${path}`, () => getHttp().stream(method, path, options)),
    },
  };
  return observedHttp;
}
