export { expectAccessible } from "./accessible.ts";
export { conformance } from "./conformance.tsx";
export type { ConformanceSettings } from "./conformance-checks.tsx";
export { createFakeHttp, type FakeAnswer, type FakeCall, type FakeHttp } from "./fake-http.ts";
export { openedContent, type FakeContent } from "./fake-content.ts";
export { createFakePortal, type FakePortal, type FakePortalSettings, type PortalRecord } from "./fake-portal.ts";
export { createFakeAnswering, type FakeAnswering, type FakeAsked } from "./fake-requests.ts";
export {
  createFakeVisitor,
  type FakeGiven,
  type FakePerson,
  type FakeReceived,
  type FakeShared,
  type FakeVisitor,
  type FakeVisitorSettings,
} from "./fake-sharing.ts";
export {
  createFakeVault,
  picture,
  type FakeImage,
  type FakeSecret,
  type FakeUpload,
  type FakeVault,
  type FakeVaultSettings,
} from "./fake-vault.tsx";
export { shownImage, shownKey, type WhatIsShown } from "./fake-picture-field.tsx";
export { manifestsFromDisk } from "./manifests-from-disk.ts";
export {
  createTestQueryClient,
  expectTextsComplete,
  renderApp,
  type RenderAppSettings,
  type RenderedApp,
} from "./renderApp.tsx";
export { readTexts, textKeys, textsFromDisk } from "./texts-from-disk.ts";
export { missingTourTargets } from "./tours.ts";
