import { createSigner } from "@relicario/api/testing/person";

import { newId } from "../seal/ids.ts";
import { createService } from "../service/service.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeSharing } from "../testing/fake-shares.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { describeService } from "./describe-service.ts";
import type { Account, ServiceUnderTest } from "./service/service-under-test.ts";

const formerVersions = 2;

describeService("the fake service", (): Promise<ServiceUnderTest> => {
  const sharing = createFakeSharing();
  let clockOffsetMs = 0;
  const now = (): number => Date.now() + clockOffsetMs;
  const visitorService = createFakeService("nobody");
  Object.assign(visitorService, { now, sharing: { state: sharing, me: null } });
  return Promise.resolve({
    signIn: (): Promise<Account> => {
      const userId = newId(Date.now());
      const userName = `person-${userId}`;
      const service = createFakeService(userId);
      const me = { userId, userName, account: () => service.account };
      Object.assign(service, { now, sharing: { state: sharing, me } });
      service.account.formerVersionLimit = formerVersions;
      sharing.people.set(userName, me);
      let signInCount = 0;
      return Promise.resolve({
        userName,
        signer: createSigner(userId),
        http: service.http,
        calls: createService(service.http),
        signInOtherDevice: () => Promise.resolve(service.httpFor(`sign-in ${String(++signInCount)}`)),
        waitForReset: () => {
          service.account.accountReset = "ready";
          return Promise.resolve(createService(service.http));
        },
      });
    },
    visitor: visitorService.http,
    setClockOffset: (milliseconds) => {
      clockOffsetMs = milliseconds;
    },
    partBytes: fakePartBytes,
    maxFormerVersions: formerVersions,
    stop: () => Promise.resolve(),
  });
});
