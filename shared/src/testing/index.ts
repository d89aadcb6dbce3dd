export { expectAccessible } from "./accessible.ts";
export { conformance } from "./conformance.tsx";
export type { ConformanceSettings } from "./conformance-checks.tsx";
export {
  createFakeHttpClient,
  type FakeHttpHandler,
  type RecordedHttpCall,
  type FakeHttpClient,
} from "./fake-http-client.ts";
export { createOpenedContent, readOpened, type FakeContent } from "./fake-content.tsx";
export { createFakePortal, type FakePortal, type FakePortalSettings, type PortalRecord } from "./fake-portal.ts";
export { createFakeRequestVisitor, type FakeRequestVisitor, type FakeOwnRequest } from "./fake-requests.ts";
export {
  createFakeVisitor,
  type FakeOwnShare,
  type FakePerson,
  type FakeReceivedShare,
  type FakeLinkedShare,
  type FakeVisitor,
  type FakeVisitorSettings,
} from "./fake-sharing.ts";
export {
  createFakeVault,
  createPictureFile,
  type FakeImage,
  type FakeSecret,
  type FakeUpload,
  type FakeVault,
  type FakeVaultSettings,
} from "./fake-vault.tsx";
export { createOpenerHandle, createKeyHandle, type PresentedOpener } from "./fake-picture-field.tsx";
export { readManifests } from "./manifests-from-disk.ts";
export {
  createTestQueryClient,
  expectTextsComplete,
  renderApp,
  type RenderAppSettings,
  type RenderedApp,
} from "./renderApp.tsx";
export { wholeText } from "./whole-text.ts";
export { readTexts, listTextKeys, createDiskTextsFetcher } from "./texts-from-disk.ts";
export { findMissingTourTargets } from "./tours.ts";
