import { usePortal, type PortalMessage } from "@relicario/shared/contract";
import { Card, IconButton, s, space, visuallyHidden } from "@relicario/shared/ui";
import { ExternalLink, Lightbulb, Megaphone, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { closedMessages, closeMessage } from "./closed-messages.ts";

/**
 * Id under which closing the built-in advice is remembered; it is shown when the vendor has no
 * messages.
 */
const adviceId = "copies";

/**
 * The vendor's messages from the deployment document, or else one built-in advice. Closing one is
 * remembered on this device.
 */
export function Messages() {
  const { t } = useTranslation("ad-banner");
  const { vendor, language } = usePortal();
  const [closed, setClosed] = useState(() => closedMessages(localStorage));
  const open = vendor.messages.filter(({ id }) => !closed.includes(id));
  const advised = vendor.messages.length === 0 && !closed.includes(adviceId);
  if (open.length === 0 && !advised) return null;
  const close = (id: string) => {
    setClosed(closeMessage(localStorage, id));
  };
  return (
    <section aria-labelledby="messages-title" data-tour="home-messages">
      <Hidden id="messages-title">{t("messages.title")}</Hidden>
      <List>
        {open.map((message) => (
          <Message
            key={message.id}
            title={message.title[language]}
            body={message.body[language]}
            link={safeLink(message)}
            onClose={() => close(message.id)}
          />
        ))}
        {advised && (
          <Message
            own
            title={t("advice.copies_title")}
            body={t("advice.copies_body")}
            link={null}
            onClose={() => close(adviceId)}
          />
        )}
      </List>
    </section>
  );
}

interface MessageProps {
  readonly title: string;
  readonly body: string;
  readonly link: string | null;
  readonly own?: boolean;
  readonly onClose: () => void;
}

function Message({ title, body, link, own = false, onClose }: MessageProps) {
  const { t } = useTranslation("ad-banner");
  const Icon = own ? Lightbulb : Megaphone;
  return (
    <Card as="li">
      <Icon aria-hidden size={20} />
      <div>
        <h3>{title}</h3>
        <p>{body}</p>
        {link !== null && (
          <a href={link} target="_blank" rel="noopener noreferrer">
            {t("messages.link_action")}
            <ExternalLink aria-hidden size={16} />
            <Hidden as="span">{t("messages.link_hint")}</Hidden>
          </a>
        )}
      </div>
      <IconButton label={t("messages.close_action", { title })} icon={<X aria-hidden />} onClick={onClose} />
    </Card>
  );
}

/** Only `https:` and same-origin addresses become links. */
function safeLink({ link }: PortalMessage): string | null {
  const address = link === undefined ? null : URL.parse(link);
  return address !== null && (address.protocol === "https:" || address.origin === location.origin)
    ? address.href
    : null;
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  & > li {
    display: flex;
    align-items: flex-start;
    gap: ${space(3)};
    padding: ${space(4)} ${space(2)} ${space(4)} ${space(4)};
    & > svg {
      flex: none;
      margin-top: 2px;
      color: ${s("accentText")};
    }
    & > div {
      flex: 1 1 auto;
      min-width: 0;
      max-width: ${s("lineLength")};
    }
    & > button {
      margin: -${space(2)} 0 -${space(2)} auto;
    }
    & h3 {
      font-size: ${s("textBase")};
    }
    & p {
      color: ${s("textMuted")};
    }
    & a {
      display: inline-flex;
      align-items: center;
      gap: ${space(1)};
      min-height: 32px;
      color: ${s("accentText")};
      font-weight: 550;
    }
  }
`;

const Hidden = styled.h2`
  ${visuallyHidden}
`;
