import { createChannel, createWindowEndpoint, usePortal, type Channel } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { clearClipboardLater } from "@relicario/shared/forms";
import { breakpoints, ErrorNotice, Skeleton } from "@relicario/shared/ui";
import {
  emptyElementState,
  serveElementPage,
  type ElementField,
  type ElementSettings,
  type ElementState,
  type SearchHint,
  type TourPlace,
} from "@relicario/vault";
import { useEffect, useEffectEvent, useRef, useState, type ComponentType } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { clearOnLock, markPictureOn } from "../drives/drive-memory.ts";

export interface VaultElementProps {
  readonly field: ElementField;
  /** Tells fields of one kind apart by what they show, for the height that they start with. */
  readonly variant?: string;
  /** Input of an earlier element to continue; only read when the element starts. */
  readonly heldId?: string | null;
  readonly disabled?: boolean;
  readonly onChange: (state: ElementState) => void;
  readonly onSearch?: (heldId: string, hint: SearchHint) => void;
  readonly onCancel?: () => void;
  /** Receives the 12 words of another device. */
  readonly onDeviceCode?: (words: string) => void;
}

export interface VaultElementSettings {
  /** To the vault's frame; elements end with it. */
  readonly channel: Pick<Channel, "onClose">;
  readonly vaultOrigin: string;
  /** Null for a visitor. */
  readonly vaultId: number | null;
}

/** Milliseconds until an element that does not start counts as failed. */
const startLimitMilliseconds = 20_000;

/** Permissions that each kind of element needs; the page's own policy allows no other origin. */
const permissions: Readonly<Record<ElementField["kind"], string>> = {
  picture: "publickey-credentials-get",
  new_passphrase: "",
  new_passkey: "publickey-credentials-create; publickey-credentials-get",
  new_recovery_code: "",
  mark_question: "",
  device_code_scan: "",
  opened: "clipboard-write",
};

/** Pixels by which the frame is larger than its content, for outlines of focus. */
const margin = 4;

/** Last height of each kind of element, so that the next one starts with it and nothing moves. */
const heights = new Map<string, number>();
/** Measured in pixels with the account's mark, in a wide and a narrow window. */
const defaultHeights: Readonly<Record<string, readonly [wide: number, narrow: number]>> = {
  "picture choose": [873, 1233],
  "picture show": [410, 532],
  "picture share": [350, 416],
  new_passphrase: [295, 316],
  new_passkey: [77, 77],
  new_recovery_code: [487, 831],
  mark_question: [200, 300],
  device_code_scan: [77, 77],
  "opened text": [401, 582],
  "opened seed": [401, 582],
  "opened record": [420, 560],
  "opened file": [100, 100],
};

function getFirstHeight(heightKey: string): number {
  const [wide, narrow] = defaultHeights[heightKey] ?? [0, 0];
  return heights.get(heightKey) ?? (window.innerWidth < breakpoints.mobile ? narrow : wide);
}

/**
 * Creates the component of the vault's elements: [Note: Elements of the vault] in
 * element-protocol.ts.
 */
export function createVaultElement(settings: VaultElementSettings): ComponentType<VaultElementProps> {
  return function VaultElement(props) {
    const [attempt, setAttempt] = useState(0);
    const [error, setError] = useState<PortalError | null>(null);
    if (error !== null)
      return (
        <ErrorNotice
          error={error}
          onRetry={() => {
            setError(null);
            setAttempt(attempt + 1);
          }}
        />
      );
    return <ElementFrame key={attempt} {...settings} {...props} onFailed={setError} />;
  };
}

interface ElementFrameProps extends VaultElementProps, VaultElementSettings {
  readonly onFailed: (error: PortalError) => void;
}

function ElementFrame({
  channel,
  vaultOrigin,
  vaultId,
  field,
  variant = field.kind === "picture" ? field.purpose : "",
  heldId = null,
  disabled = false,
  onChange,
  onSearch,
  onCancel,
  onDeviceCode,
  onFailed,
}: ElementFrameProps) {
  const { t } = useTranslation("common");
  const { language, theme, user, onLock } = usePortal();
  const frame = useRef<HTMLIFrameElement>(null);
  const elementChannel = useRef<Channel | null>(null);
  const [started, setStarted] = useState(false);
  const heightKey = `${field.kind} ${variant}`.trim();
  const [takePlace, setTakePlace] = useState<TourPlace | null>(null);
  const [height, setHeight] = useState(() => getFirstHeight(heightKey));
  const elementSettings: ElementSettings = {
    language,
    theme,
    disabled,
    userName: user.userName,
    vaultId,
    heldId,
    field,
  };
  const settingsJson = JSON.stringify(elementSettings);

  const handleChange = useEffectEvent((state: ElementState) => {
    if (state.drivesWithPicture.length > 0) clearOnLock({ onLock });
    for (const drive of state.drivesWithPicture) markPictureOn(drive);
    onChange(state);
  });
  const getSettings = useEffectEvent(() => {
    if (started) handleChange(emptyElementState); // it was loaded again, without its input
    return elementSettings;
  });
  const handleSearch = useEffectEvent((searchedId: string, hint: SearchHint) => onSearch?.(searchedId, hint));
  const handleCancel = useEffectEvent(() => onCancel?.());
  const handleDeviceCode = useEffectEvent((words: string) => onDeviceCode?.(words));
  const handleFailed = useEffectEvent(onFailed);
  const handleResize = useEffectEvent((next: number, nextTakePlace: TourPlace | null) => {
    heights.set(heightKey, next);
    setTakePlace(nextTakePlace);
    setHeight(next);
    setStarted(true);
  });

  useEffect(() => {
    const openedChannel = createChannel(
      createWindowEndpoint(window, () => frame.current?.contentWindow ?? null, vaultOrigin),
    );
    elementChannel.current = openedChannel;
    let isCurrent = true;
    const fail = (error: PortalError): void => {
      if (isCurrent) handleFailed(error);
    };
    const timer = setTimeout(() => {
      fail(new PortalError("vault_unavailable", { details: { reason: "timed_out" } }));
    }, startLimitMilliseconds);
    serveElementPage(openedChannel, {
      getSettings: () => getSettings(),
      onChange: (state) => {
        handleChange(state);
      },
      onSearch: (searchedId, hint) => {
        handleSearch(searchedId, hint);
      },
      onResize: (next, nextTakePlace) => {
        clearTimeout(timer);
        handleResize(next, nextTakePlace);
      },
      onSubmit: () => {
        frame.current?.closest("form")?.requestSubmit();
      },
      onCancel: () => {
        handleCancel();
      },
      onDeviceCode: (words) => {
        handleDeviceCode(words);
      },
      onCopied: clearClipboardLater,
      onFailed: (code) => {
        fail(new PortalError(code));
      },
    });
    channel.onClose(() => {
      fail(new PortalError("vault_unavailable"));
    });
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      openedChannel.close(new PortalError("cancelled"));
    };
  }, [channel, vaultOrigin]);

  useEffect(() => {
    if (!started) return;
    elementChannel.current?.call("element", ["update"], [JSON.parse(settingsJson)]).catch((error: unknown) => {
      if (toPortalError(error).code !== "cancelled") handleFailed(toPortalError(error));
    });
  }, [started, settingsJson]);

  return (
    <Box data-tour={field.kind === "picture" ? "picture-field" : undefined} data-started={started}>
      {!started && <Skeleton height={`${String(height)}px`} />}
      <Frame
        ref={frame}
        src={`${vaultOrigin}/element#${new URLSearchParams({ portal: window.location.origin }).toString()}`}
        title={t(`element.${field.kind}_title`)}
        allow={permissions[field.kind]}
        data-vault-element={field.kind}
        style={{ height: `${String(height + 2 * margin)}px` }}
      />
      {takePlace !== null && <TourTarget aria-hidden data-tour="picture-take" style={{ ...takePlace }} />}
    </Box>
  );
}

const Box = styled.div`
  position: relative;
  min-width: 0;
`;

/** Lies above what it stands for inside the frame. */
const TourTarget = styled.span`
  position: absolute;
  pointer-events: none;
`;

const Frame = styled.iframe`
  display: block;
  width: calc(100% + ${2 * margin}px);
  margin: -${margin}px;
  border: 0;
  background: transparent;
  [data-started="false"] > & {
    position: absolute;
    inset: 0;
    opacity: 0; /* browsers lay out no hidden frame of another origin */
  }
`;
