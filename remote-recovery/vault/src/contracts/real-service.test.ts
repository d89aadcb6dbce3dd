import { createSigner } from "@relicario/api/testing/person";
import { minPartBytes, accountResetWaitDays } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { z } from "zod";

import { createService } from "../service/service.ts";
import { describeService } from "./describe-service.ts";
import { maxFormerVersions, createSubject, startRealService } from "./real-service.ts";
import { dayMs, type Account, type ServiceUnderTest } from "./service/service-under-test.ts";

describeService("the service", async (): Promise<ServiceUnderTest> => {
  const { signIn, visitor, setClockOffset, testService } = await startRealService();
  return {
    signIn: async (): Promise<Account> => {
      const subject = createSubject();
      const http = await signIn(subject);
      const calls = createService(http);
      const { user_id: userId, user_name: userName } = await calls.shares.getMe();
      const signInAgain = (): Promise<HttpClient> => signIn(subject);
      return {
        userName,
        signer: createSigner(userId),
        http,
        calls,
        signInOtherDevice: signInAgain,
        waitForReset: async () => {
          await (await signInAgain()).request("POST", "/user/start-anew", z.unknown());
          setClockOffset(accountResetWaitDays * dayMs);
          return createService(await signInAgain());
        },
      };
    },
    visitor,
    setClockOffset,
    partBytes: minPartBytes,
    maxFormerVersions,
    stop: () => testService.stop(),
  };
});
