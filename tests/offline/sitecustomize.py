from loopback import refuse

refuse()
