import type { Notice } from "@relicario/shared/contract";
import { depths, media, renderVerbatim, s, space, toastMotion } from "@relicario/shared/ui";
import { m } from "framer-motion";
import { CircleAlert, CircleCheck, Info, X } from "lucide-react";
import { useEffect, useEffectEvent } from "react";
import { useTranslation } from "react-i18next";
import { toast, ToastContainer, type CloseButtonProps, type ToastTransitionProps } from "react-toastify/unstyled";
import { styled } from "styled-components";

import { frameSizes } from "./frame-sizes.ts";

/** How long a toast is shown, in milliseconds (specification, section 9). */
const toastMilliseconds = 5000;

const icons = { success: CircleCheck, info: Info, error: CircleAlert } as const;

/** Shows a toast, as soon as the container is mounted. */
export function showToast({ tone, text }: Notice): void {
  const Icon = icons[tone];
  toast(renderVerbatim(text), {
    type: tone,
    icon: <Icon size={20} aria-hidden />,
    role: tone === "error" ? "alert" : "status",
  });
}

/** Removes all toasts, including those that wait, because they may name a secret. */
export function clearToasts(): void {
  toast.dismiss();
  toast.clearWaitingQueue();
}

/**
 * Container of the toasts. Imports the library's styles as a file, because the library would insert
 * them without the nonce that the policy requires.
 */
export function Toasts() {
  const { t } = useTranslation("common");
  return (
    <ToastArea>
      <ToastContainer
        aria-label={t("notices.list_aria")}
        position="top-right"
        autoClose={toastMilliseconds}
        hideProgressBar
        pauseOnFocusLoss
        pauseOnHover
        closeOnClick={false}
        draggable={false}
        limit={4}
        closeButton={Close}
        transition={ToastTransition}
      />
    </ToastArea>
  );
}

/**
 * A transition with the library's interface: `playToast` starts the toast's timer, `done` unmounts
 * a closed toast.
 */
function ToastTransition({ children, isIn, done, ...toastTimer }: ToastTransitionProps) {
  const play = useEffectEvent(() => {
    toastTimer.playToast();
  });
  useEffect(() => {
    play();
  }, []);
  return (
    <ToastRow
      {...toastMotion}
      animate={isIn ? "visible" : "exit"}
      onAnimationComplete={(definition) => {
        if (definition === "exit") done();
      }}
    >
      {children}
    </ToastRow>
  );
}

function Close({ closeToast }: CloseButtonProps) {
  const { t } = useTranslation("common");
  return (
    <CloseButton type="button" aria-label={t("dialog.close_action")} onClick={closeToast}>
      <X size={16} aria-hidden />
    </CloseButton>
  );
}

/** `flow-root` includes the toast's bottom margin in the row's height. */
const ToastRow = styled(m.div)`
  display: flow-root;
  width: 100%;
`;

const CloseButton = styled.button`
  display: grid;
  place-items: center;
  flex: none;
  width: 32px;
  height: 32px;
  margin: -6px -8px -6px auto;
  border: 0;
  border-radius: ${s("radiusSmall")};
  background: none;
  color: ${s("textMuted")};
  cursor: pointer;
`;

const ToastArea = styled.div`
  --toastify-z-index: ${depths.toast};
  --toastify-toast-width: min(360px, calc(100vw - ${space(8)}));
  --toastify-font-family: ${s("fontFamily")};
  --toastify-toast-offset: ${space(4)};
  & .Toastify__toast {
    align-items: center;
    gap: ${space(2)};
    min-height: 0;
    padding: ${space(3)} ${space(4)};
    border: 1px solid ${s("border")};
    border-radius: ${s("radius")};
    background: ${s("surfaceRaised")};
    color: ${s("text")};
    box-shadow: ${s("shadowRaised")};
  }
  & .Toastify__toast--success .Toastify__toast-icon {
    color: ${s("successText")};
  }
  & .Toastify__toast--info .Toastify__toast-icon {
    color: ${s("accentText")};
  }
  & .Toastify__toast--error .Toastify__toast-icon {
    color: ${s("dangerText")};
  }
  ${media.mobile} {
    /* Above the bottom bar, since at the top they would cover a heading. */
    & .Toastify__toast-container {
      inset: auto ${space(2)} calc(${frameSizes.mobileBar}px + env(safe-area-inset-bottom) + ${space(2)});
      width: auto;
      margin: 0;
      padding: 0;
    }
    & .Toastify__toast {
      width: 100%;
      margin-bottom: ${space(2)};
      border-radius: ${s("radius")};
    }
  }
  /* The library closes a toast when this animation ends, so it also runs with reduced motion. */
  & .Toastify__progress-bar {
    animation-duration: ${toastMilliseconds}ms !important;
  }
`;
