// Writes one cookie for a year, so that the server sees a visitor's wishes before the first page is drawn.
export default function ({ data: [cookie, value] }) {
  const name = encodeURIComponent(cookie);
  document.cookie = `${name}=${encodeURIComponent(value)}; max-age=31536000; path=/; SameSite=Lax`;
}
