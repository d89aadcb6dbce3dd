import { describeDeviceLinks } from "./service/device-links.ts";
import { describeKeyring } from "./service/keyring.ts";
import { describeRequests } from "./service/requests.ts";
import { describeReset } from "./service/reset.ts";
import { describeSecrets } from "./service/secrets.ts";
import { describeShares } from "./service/shares.ts";
import { describeStages } from "./service/stages.ts";
import type { ServiceUnderTest } from "./service/service-under-test.ts";
import { describeUploads } from "./service/uploads.ts";

const resources = [
  describeKeyring,
  describeStages,
  describeSecrets,
  describeUploads,
  describeDeviceLinks,
  describeShares,
  describeRequests,
  describeReset,
];

/** What the vault relies on of the service, told of whatever `make` starts. */
export function describeService(name: string, make: () => Promise<ServiceUnderTest>): void {
  jest.setTimeout(300_000); // a busy machine takes its time

  describe(name, () => {
    let service: ServiceUnderTest;
    beforeAll(async () => {
      service = await make();
    });
    afterEach(() => {
      service.setClockOffset(0);
    });
    afterAll(() => service.stop());

    for (const describeResource of resources) describeResource(() => service);
  });
}
