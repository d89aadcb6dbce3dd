import "fake-indexeddb/auto";

import { unrefMessagePorts } from "../testing/channel-workers.ts";
import { describeVault } from "./describe-vault.ts";
import { createRealHarness, createRealLinkHarness } from "./real-vault.ts";

unrefMessagePorts();

describeVault("the vault over its workers", createRealHarness, createRealLinkHarness);
