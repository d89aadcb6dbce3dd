import { useEffect, useRef, useState, type ReactElement } from "react";
import { createPortal } from "react-dom";
import { styled } from "styled-components";

import { depths, s, space } from "./tokens.ts";

export interface TooltipProps {
  readonly text: string;
  readonly side?: "top" | "right";
  /** Nothing is shown, while the element stays the same one and keeps the focus. */
  readonly disabled?: boolean;
  /** One element that can be focused. It needs a name of its own: the tooltip only repeats it. */
  readonly children: ReactElement;
}

/** So long a pointer rests before the tooltip comes, in milliseconds. */
const restMilliseconds = 300;
/** So long it stays when the pointer goes, which may be on its way to the tooltip itself. */
const leaveMilliseconds = 120;
const gap = 6;

/** Words beside an element while a pointer rests on it or it has the focus. Escape, a press and scrolling take them away. */
export function Tooltip({ text, side = "top", disabled = false, children }: TooltipProps) {
  const around = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pressed = useRef(false);
  const [place, setPlace] = useState<{ readonly left: number; readonly top: number } | null>(null);

  const change = (show: boolean, wait: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const box = around.current?.firstElementChild?.getBoundingClientRect();
      if (!show || disabled || box === undefined) setPlace(null);
      else setPlace(side === "right" ? { left: box.right + gap, top: box.top + box.height / 2 } : { left: box.left + box.width / 2, top: box.top - gap });
    }, wait);
  };
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );

  const open = place !== null && !disabled;
  useEffect(() => {
    if (!open) return undefined;
    const hide = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== "Escape") return;
      clearTimeout(timer.current);
      setPlace(null);
    };
    window.addEventListener("keydown", hide);
    window.addEventListener("scroll", hide, { capture: true });
    return () => {
      window.removeEventListener("keydown", hide);
      window.removeEventListener("scroll", hide, { capture: true });
    };
  }, [open]);

  return (
    <Around
      ref={around}
      onPointerEnter={({ pointerType }) => {
        if (pointerType !== "touch") change(true, open ? 0 : restMilliseconds);
      }}
      onPointerLeave={() => {
        pressed.current = false;
        change(false, leaveMilliseconds);
      }}
      onPointerDown={() => {
        pressed.current = true; // the focus that follows is no reason to show it again
        change(false, 0);
      }}
      onFocus={({ target }) => {
        if (!pressed.current && target.matches(":focus-visible")) change(true, 0);
      }}
      onBlur={() => {
        change(false, 0);
      }}
    >
      {children}
      {open &&
        createPortal(
          <Bubble role="tooltip" data-side={side} style={place}>
            {text}
          </Bubble>,
          document.body,
        )}
    </Around>
  );
}

/** Without a box: what is in it lies as if it were not there. */
const Around = styled.span`
  display: contents;
`;

const Bubble = styled.div`
  position: fixed;
  z-index: ${depths.menu};
  width: max-content;
  max-width: min(280px, calc(100vw - ${space(4)}));
  padding: ${space(1.5)} ${space(2.5)};
  border-radius: ${s("radiusSmall")};
  background: ${s("text")};
  color: ${s("background")};
  font-size: ${s("textSmall")};
  &[data-side="right"] { transform: translateY(-50%); }
  &[data-side="top"] { transform: translate(-50%, -100%); }
`;
