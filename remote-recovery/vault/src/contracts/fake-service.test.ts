import { createSigner } from "@relicario/api/testing/person";

import { newId } from "../seal/ids.ts";
import { serviceOn } from "../service.ts";
import { createFakeService } from "../testing/fake-service.ts";
import { createFakeSharing } from "../testing/fake-shares.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { describeService } from "./describe-service.ts";
import type { Account, ServiceUnderTest } from "./service/under-test.ts";

const formerVersions = 2;

describeService("the fake service", (): Promise<ServiceUnderTest> => {
  const sharing = createFakeSharing();
  let ahead = 0;
  const now = (): number => Date.now() + ahead;
  const nobody = createFakeService("nobody");
  Object.assign(nobody, { now, sharing: { between: sharing, me: null } });
  return Promise.resolve({
    signIn: (): Promise<Account> => {
      const userId = newId(Date.now());
      const userName = `person-${userId}`;
      const service = createFakeService(userId);
      const me = { userId, userName, account: () => service.account };
      Object.assign(service, { now, sharing: { between: sharing, me } });
      service.account.formerVersions = formerVersions;
      sharing.people.set(userName, me);
      let signIns = 0;
      return Promise.resolve({
        userName,
        signer: createSigner(userId),
        http: service.http,
        calls: serviceOn(service.http),
        signInAgain: () => Promise.resolve(service.httpOf(`sign-in ${String(++signIns)}`)),
        waitForReset: () => {
          service.account.startAnew = "ready";
          return Promise.resolve(serviceOn(service.http));
        },
      });
    },
    visitor: nobody.http,
    goAhead: (milliseconds) => {
      ahead = milliseconds;
    },
    partBytes: fakePartBytes,
    formerVersions,
    stop: () => Promise.resolve(),
  });
});
